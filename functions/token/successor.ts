import { hashClientSecret } from '../../shared/keys/client-secret.ts';
import { seal, unseal } from '../../shared/keys/seal.ts';
import { type Login, loginOf } from '../../shared/login/login-item.ts';
import { newRefreshToken, type RefreshToken, refreshTokenText } from '../../shared/login/refresh-token.ts';
import type { Services } from '../../shared/services.ts';

/** An answer that got lost is asked for again within this time. */
const repeatMs = 10_000;

type Rotation = NonNullable<Login['rotation']>;

/**
 * The refresh token that follows one which is spent by this. Shown again within ten seconds, or several times at
 * once, it leads to the same successor, as long as that was not used itself.
 * @param usedAtMs noted as its last use
 * @returns undefined for a token that was used before: somebody else may have it
 */
export async function successorOf(
  services: Pick<Services, 'table' | 'now'>,
  login: Login,
  token: RefreshToken,
  usedAtMs?: number,
): Promise<string | undefined> {
  const { table, now } = services;
  const repeated = repeatOf(login, token, now());
  if (repeated !== undefined) return repeated;
  const next = newRefreshToken(token);
  const spentHash = hashClientSecret(token.secret);
  const rotation: Rotation = {
    sealed: seal(Buffer.from(token.secret), useOf(token), next.secret),
    untilMs: now() + repeatMs,
  };
  const key = { pk: login.pk, sk: login.sk };
  const noted = usedAtMs === undefined ? '' : ', usedAtMs = :used';
  const { held } = await table.updateIf({
    Key: key,
    UpdateExpression: `SET refreshHash = :next, rotation = :rotation${noted}`,
    ConditionExpression: 'refreshHash = :spent AND attribute_not_exists(revoked)',
    ExpressionAttributeValues: {
      ...{ ':spent': spentHash, ':next': next.secretHash, ':rotation': rotation },
      ...(usedAtMs === undefined ? {} : { ':used': usedAtMs }),
    },
  });
  if (held) return next.text;
  const latest = loginOf((await table.read([key])).get(key));
  return latest && latest.revoked !== true ? repeatOf(latest, token, now()) : undefined;
}

function repeatOf({ rotation }: Login, token: RefreshToken, nowMs: number): string | undefined {
  if (!rotation || rotation.untilMs <= nowMs) return undefined;
  // Under another token's secret it does not open.
  const secret = unseal(Buffer.from(token.secret), useOf(token), rotation.sealed);
  return secret === undefined ? undefined : refreshTokenText({ ...token, secret });
}

function useOf({ loginId }: RefreshToken) {
  return { use: 'refresh token', of: [loginId] };
}
