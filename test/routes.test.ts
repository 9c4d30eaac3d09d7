import { describe, expect, test } from '@jest/globals';
import { allRoutes } from '../functions/routes.ts';
import { routeKey } from '../shared/http/row.ts';

describe('the route table', () => {
  test('has no row and no name twice', () => {
    expect(new Set(allRoutes.map(routeKey)).size).toBe(allRoutes.length);
    expect(new Set(allRoutes.map(({ name }) => name)).size).toBe(allRoutes.length);
  });

  test('leaves nothing under admin/ to anybody', () => {
    const admin = allRoutes.filter(({ path }) => path.startsWith('/admin/'));
    expect(admin.filter(({ access }) => access !== 'administrator').map(({ name }) => name)).toEqual([
      // Whoever it is may leave a Project.
      'removeMember',
    ]);
  });
});
