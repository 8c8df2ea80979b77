import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestDatabase } from '../harness/database.ts'
import { openSuperuser } from '../harness/superuser.ts'

test('a dump with the rights of fd_owner has every row of every table', async (t) => {
  const superuser = await openSuperuser(t, await openTestDatabase(t))
  // pg_dump reads partitions one by one, so that each needs the policy too.
  const { rows } = await superuser.query(`
    select c.relname as table, 'fd_owner does not see all rows' as why
      from pg_class c
     where c.relkind in ('r', 'p') and c.relrowsecurity and c.relnamespace = 'public'::regnamespace
       and not exists (select from pg_policy p
                        where p.polrelid = c.oid and p.polpermissive
                          and 'fd_owner'::regrole = any(p.polroles)
                          and pg_get_expr(p.polqual, p.polrelid) = 'true')
     union all
    select p.polrelid::regclass::text, 'a restrictive policy hides rows of fd_owner'
      from pg_policy p
     where not p.polpermissive and ('fd_owner'::regrole = any(p.polroles) or 0 = any(p.polroles))
     union all
    select c.relname, 'fd_owner does not own it'
      from pg_class c
     where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
       and c.relowner <> 'fd_owner'::regrole`)
  assert.deepEqual(rows, [])
})
