import { keys } from '../../shared/carry/table/keys.ts';
import type { Portico } from './portico.ts';

/** The login that an access token is of. */
export function loginIdOf(token: string): string {
  return JSON.parse(String(Buffer.from(token.split('.')[1] ?? '', 'base64url'))).login_id;
}

/** The same for all sign-ins of a person, whatever they have open. */
export async function ageAll(portico: Portico, email: string, minutes = 6): Promise<void> {
  const { store } = portico.local;
  const addressKey = keys.address(email);
  const { pk, sk } = keys.userLogin(String((await store.read([addressKey])).get(addressKey)?.userId), '');
  const { items } = await store.query({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
    ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
  });
  for (const { loginId } of items) await ageLogin(portico, String(loginId), minutes);
}

/** Lets so many minutes pass since the person of this token signed in, or since a program got it. @returns the token */
export async function age(portico: Portico, token: string, minutes = 6): Promise<string> {
  await ageLogin(portico, loginIdOf(token), minutes);
  return token;
}

async function ageLogin(portico: Portico, loginId: string, minutes: number): Promise<void> {
  const key = keys.login(loginId);
  const { store } = portico.local;
  const login = (await store.read([key])).get(key);
  const earlier = (at: unknown) => Number(at) - minutes * 60_000;
  await store.update({
    Key: key,
    UpdateExpression: `SET createdAtMs = :created${login?.signedInAtMs === undefined ? '' : ', signedInAtMs = :signedIn'}`,
    ExpressionAttributeValues: {
      ':created': earlier(login?.createdAtMs),
      ...(login?.signedInAtMs === undefined ? {} : { ':signedIn': earlier(login.signedInAtMs) }),
    },
  });
}
