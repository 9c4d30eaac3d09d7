/** Variables of criteria: `%profile`, `%profile.id`, `%patient`, and parameters by their names. */
export const variable = /%[A-Za-z_][A-Za-z0-9_.-]*/g;
