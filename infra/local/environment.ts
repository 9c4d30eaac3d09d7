/** What the SDK asks for before it signs; the engines on loopback check none of it. */
const localAws = {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
} as const;

/** For the stack's own AWS clients. */
export const clientOptions = {
  region: localAws.AWS_REGION,
  credentials: { accessKeyId: localAws.AWS_ACCESS_KEY_ID, secretAccessKey: localAws.AWS_SECRET_ACCESS_KEY },
};

/** For the clients that handlers and tests make: the default chain finds these instead of a real account. */
export function useLocalCredentials(): void {
  Object.assign(process.env, localAws);
}
