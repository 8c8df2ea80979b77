import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pg from 'pg'
import { dumpSchema } from '../../scripts/schema-dump.ts'
import { openTestDatabase } from '../harness/database.ts'

/** Statements that change a database, and the line by which the dump must show the change. */
const CHANGES: Record<string, readonly [change: string, line: string]> = {
  'a column': [
    'alter table stores add motto text default $$ahoy$$',
    "  motto text default 'ahoy'::text,",
  ],
  'a constraint': [
    'alter table stores add constraint short check (length(display_name) < 9)',
    '  constraint short CHECK ((length(display_name) < 9)),',
  ],
  'an index': [
    'create index by_name on stores (tenant_ref, display_name)',
    'CREATE INDEX by_name ON stores USING btree (tenant_ref, display_name);',
  ],
  'a flag of row level security': [
    'alter table owners enable row level security',
    'alter table owners enable row level security;',
  ],
  'a storage parameter': ['alter table owners set (fillfactor = 61)', ') with (fillfactor=61);'],
  'a policy': [
    'create policy handy on stores for select to fd_worker using (true)',
    'create policy handy on stores for select to fd_worker using true;',
  ],
  'a trigger': [
    "call fd_freeze('mails')",
    'CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON mails FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();',
  ],
  'a grant': [
    'grant delete on mails to fd_operator',
    'grant delete, select on mails to fd_operator;',
  ],
  'a grant on a column': [
    'grant update (name) on owners to fd_operator',
    'grant update (name) on owners to fd_operator;',
  ],
  'a function that everyone may call': [
    'grant execute on function fd_tenant() to public',
    'grant execute on routine fd_tenant() to public;',
  ],
  'the owner of a function': [
    'alter function fd_tenant() owner to fd_gate',
    'alter routine fd_tenant() owner to fd_gate;',
  ],
  'what the planner supposes of a column': [
    'alter table stores alter column status set (n_distinct = 7)',
    "  status text not null default 'draft'::text set (n_distinct=7),",
  ],
  'a sequence': [
    'create sequence tickets start 7',
    'create sequence tickets as bigint start 7 increment 1;',
  ],
  'an extension': ['create extension tablefunc', 'create extension tablefunc;'],
}

describe('the dump of the schema', () => {
  test('shows a change of', async (t) => {
    const { url } = await openTestDatabase(t)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      const before = (await dumpSchema(client)).split('\n')
      for (const [what, [change, line]] of Object.entries(CHANGES)) {
        await t.test(what, async () => {
          assert.equal(before.includes(line), false)
          await client.query(change)
          assert.ok((await dumpSchema(client)).split('\n').includes(line))
        })
      }
    } finally {
      await client.end()
    }
  })

  test('is the same for two databases with the same migrations', async (t) => {
    const dump = async () => {
      const client = new pg.Client({ connectionString: (await openTestDatabase(t)).url })
      await client.connect()
      return dumpSchema(client).finally(() => client.end())
    }
    assert.equal(await dump(), await dump())
  })
})
