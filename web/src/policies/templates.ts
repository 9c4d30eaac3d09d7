/** Policies to begin with. */
export const templates = [
  {
    value: 'read',
    label: 'Read everything clinical',
    resource: [{ resourceType: '*', interaction: ['read', 'vread', 'search', 'history'] }],
  },
  {
    value: 'patients',
    label: 'Read and write Patients and Observations',
    resource: [{ resourceType: 'Patient' }, { resourceType: 'Observation' }],
  },
  {
    value: 'own',
    label: 'Their own records only',
    resource: [
      { resourceType: 'Patient', criteria: 'Patient?_id=%profile.id', readonly: true },
      { resourceType: 'Observation', criteria: 'Observation?subject=%profile', readonly: true },
    ],
  },
  {
    value: 'execute',
    label: 'Execute Bots, nothing else',
    resource: [{ resourceType: 'Bot', interaction: ['execute'] }],
  },
] as const;

export type TemplateName = (typeof templates)[number]['value'];
