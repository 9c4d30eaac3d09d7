/** Lambda takes and gives this many bytes of JSON in one synchronous invocation. */
export const longestPayloadBytes = 6_291_556;
