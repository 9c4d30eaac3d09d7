import { Refusal } from '../../../shared/refusal.ts';
import { withoutKeys } from '../../../shared/typed-keys.ts';

type Forbidden = Partial<Record<'create' | 'update' | 'delete', string>>;

const user = 'Users live above Projects: invite them with POST admin/projects/<id>/invite';
const ownUser = 'A User is changed by that user only, by PUT or PATCH fhir/R4/User/<id>';
const membership =
  'Memberships are made by POST admin/projects/<id>/invite and changed under admin/projects/<id>/members/<id>';
const audit = 'AuditEvents are written by the system only';

/** SPEC section 1: what no policy can allow here, and where it is done instead. */
const forbidden: Readonly<Record<string, Forbidden>> = {
  User: { create: user, update: ownUser, delete: user },
  ProjectMembership: { create: membership, update: membership, delete: membership },
  AuditEvent: { create: audit, update: audit, delete: audit },
  Project: {
    create: 'Projects are made by npm run provision',
    update: 'Projects are changed under admin/projects/<id>',
    delete: 'Projects are not deleted through the API',
  },
  Bot: { create: 'Bots are created by POST admin/projects/<id>/bot' },
  ClientApplication: { create: 'Clients are created by POST admin/projects/<id>/client' },
};

/** @throws {Refusal} forbidden, naming the right endpoint */
export function requireWritable(type: string, interaction: 'create' | 'update' | 'delete'): void {
  const text = forbidden[type]?.[interaction];
  if (text) throw new Refusal('forbidden', text);
}

/** Elements that only the admin endpoints set; what a client sends of them is dropped. */
const serverOwned: Readonly<Record<string, readonly string[]>> = {
  ClientApplication: ['secret', 'retiringSecret'],
};

export function withoutServerOwned<T extends object>(type: string, resource: T): T {
  const owned = serverOwned[type];
  if (!owned) return resource;
  return withoutKeys(resource, (name) => owned.includes(name));
}
