import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import pg from 'pg'
import { GLOBAL_TABLES } from '../../src/db/global-tables.ts'
import { type Exceptions, listBreaches } from '../../src/db/tenant-isolation.ts'
import { openTestDatabase } from '../harness/database.ts'
import { KEY_EXCEPTIONS, OWNER_FUNCTIONS, TABLES_WITHOUT_STORE } from './index-exceptions.ts'

const exceptions: Exceptions = {
  globalTables: GLOBAL_TABLES,
  keys: KEY_EXCEPTIONS,
  withoutStore: TABLES_WITHOUT_STORE,
  ownerFunctions: OWNER_FUNCTIONS,
}

/** A table that follows every rule, for the cases that break one. */
const VALID_TABLE = `
  create table gadgets (tenant_ref text not null references stores, id uuid not null,
                        primary key (tenant_ref, id));
  call fd_fence('gadgets', app => 'select', worker => 'select');`

const definer = (name: string, rest: string) => `
  create function ${name}() returns int language sql security definer ${rest} as 'select 1';`

interface Case {
  plant: string
  seen: string[]
}

const CASES: Record<string, Case> = {
  'row level security that is off': {
    plant: 'alter table outbox disable row level security',
    seen: ['row level security: outbox is not enabled'],
  },
  'row level security that does not bind the owner': {
    plant: 'alter table outbox no force row level security',
    seen: ['row level security: outbox is not forced'],
  },
  'row level security that is off in a partition': {
    plant: 'alter table audit_log_default disable row level security',
    seen: ['row level security: audit_log_default is not enabled'],
  },
  'a partition that was added without row level security': {
    plant: `create table audit_log_other partition of audit_log
            for values from ('1999-01-01') to ('1999-02-01')`,
    seen: [
      'row level security: audit_log_other is not enabled',
      'tenant policy: audit_log_other fd_app has no policy that limits reads and writes to its tenant',
      'tenant policy: audit_log_other fd_worker has no policy that limits reads and writes to its tenant',
    ],
  },
  'an index over all tenants of a partitioned table, once': {
    plant: 'create index audit_log_by_id on audit_log (id)',
    seen: ['key: audit_log.audit_log_by_id index does not start with tenant_ref'],
  },
  'an index over all tenants of a partition alone': {
    plant: 'create index audit_log_by_id on audit_log_default (id)',
    seen: ['key: audit_log_default.audit_log_by_id index does not start with tenant_ref'],
  },
  'a tenant policy that was dropped': {
    plant: 'drop policy tenant on credentials',
    seen: ['fd_app', 'fd_worker'].map(
      (role) =>
        `tenant policy: credentials ${role} has no policy that limits reads and writes to its tenant`,
    ),
  },
  'a tenant policy that leaves out one process': {
    plant: 'alter policy tenant on credentials to fd_worker',
    seen: [
      'tenant policy: credentials fd_app has no policy that limits reads and writes to its tenant',
    ],
  },
  'a tenant policy without its check of writes': {
    plant: `drop policy tenant on credentials;
            create policy tenant on credentials to fd_app, fd_worker
             using (tenant_ref = fd_tenant()) with check (true)`,
    seen: [
      'tenant policy: credentials fd_app has no policy that limits reads and writes to its tenant',
      'tenant policy: credentials fd_worker has no policy that limits reads and writes to its tenant',
      'tenant policy: credentials policy tenant lets fd_app past its tenant',
      'tenant policy: credentials policy tenant lets fd_worker past its tenant',
    ],
  },
  'a second policy that opens the table to the API': {
    plant: 'create policy handy on credentials for select to fd_app using (true)',
    seen: ['tenant policy: credentials policy handy lets fd_app past its tenant'],
  },
  'a policy for everyone': {
    plant: 'create policy handy on credentials for select using (true)',
    seen: ['tenant policy: credentials policy handy lets public past its tenant'],
  },
  'a policy by which the worker writes over tenants': {
    plant: 'create policy handy on credentials for update to fd_worker using (true)',
    seen: ['tenant policy: credentials policy handy lets fd_worker past its tenant'],
  },
  'a policy by which the worker reads over tenants inside a transaction of one': {
    plant: 'create policy handy on credentials for select to fd_worker using (true)',
    seen: ['tenant policy: credentials policy handy lets fd_worker past its tenant'],
  },
  'due rows without the policy that keeps a transaction to its tenant': {
    plant: 'drop policy one_store on outbox',
    seen: ['tenant policy: outbox policy due lets fd_worker past its tenant'],
  },
  'due rows with another condition': {
    plant: 'alter policy one_store on outbox using (true)',
    seen: ['tenant policy: outbox policy due lets fd_worker past its tenant'],
  },
  'a primary key without the tenant': {
    plant: `${VALID_TABLE} alter table gadgets drop constraint gadgets_pkey, add primary key (id)`,
    seen: ['key: gadgets.gadgets_pkey primary key does not start with tenant_ref'],
  },
  'a table without a primary key': {
    plant: `${VALID_TABLE} alter table gadgets drop constraint gadgets_pkey`,
    seen: [
      'key: gadgets.gadgets table without a primary key, which does not start with tenant_ref',
    ],
  },
  'a unique constraint over all tenants': {
    plant: `${VALID_TABLE} alter table gadgets add constraint gadgets_once unique (id)`,
    seen: ['key: gadgets.gadgets_once unique index does not start with tenant_ref'],
  },
  'an index over all tenants': {
    plant: `${VALID_TABLE} create index gadgets_by_id on gadgets (id)`,
    seen: ['key: gadgets.gadgets_by_id index does not start with tenant_ref'],
  },
  "a foreign key that reaches another tenant's row": {
    plant: `${VALID_TABLE} alter table gadgets add unique (tenant_ref, id), add other uuid;
            alter table gadgets add constraint gadgets_any unique (id);
            alter table gadgets add constraint gadgets_other foreign key (other) references gadgets (id)`,
    seen: [
      'key: gadgets.gadgets_any unique index does not start with tenant_ref',
      'key: gadgets.gadgets_other foreign key does not start with tenant_ref',
    ],
  },
  'a table without a tenant_ref that is not listed': {
    plant: 'create table gadgets (id uuid primary key)',
    seen: ['global table: gadgets has no tenant_ref and is not listed as global'],
  },
  'a listed table that is gone': {
    plant: 'drop table mails',
    seen: ['global table: mails is listed as global and does not exist'],
  },
  'a tenant that need not be a store': {
    plant: `${VALID_TABLE} alter table gadgets drop constraint gadgets_tenant_ref_fkey`,
    seen: ['store: gadgets tenant_ref has no foreign key to stores'],
  },
  'a view that reads as its owner': {
    plant: 'create view everything as select * from credentials',
    seen: ['view: everything reads past row level security'],
  },
  'a role that bypasses row level security': {
    plant: 'alter role fd_app bypassrls',
    seen: ['role: fd_app bypasses row level security'],
  },
  'a role that is a superuser': {
    plant: 'alter role fd_operator superuser',
    seen: ['role: fd_operator is a superuser'],
  },
  'a process role that owns a table': {
    plant: `${VALID_TABLE} alter table gadgets owner to fd_worker`,
    seen: ['role: fd_worker owns table gadgets'],
  },
  'a definer function of another owner': {
    plant: `${definer('peek', 'set search_path = public, pg_temp')}
            alter function peek() owner to fd_owner; revoke all on function peek() from public`,
    seen: ['definer function: peek() is owned by fd_owner'],
  },
  'a definer function with a loose search path': {
    plant: `${definer('peek', '')}
            alter function peek() owner to fd_gate; revoke all on function peek() from public`,
    seen: ['definer function: peek() has no fixed search_path'],
  },
  'a definer function that everyone may call': {
    plant: `${definer('peek', 'set search_path = public, pg_temp')}
            alter function peek() owner to fd_gate`,
    seen: ['definer function: peek() may be called by everyone'],
  },
}

async function inDatabase<T>(t: TestContext, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const { url } = await openTestDatabase(t)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const report = async (client: pg.Client) =>
  (await listBreaches(client, exceptions)).map(
    ({ rule, object, detail }) => `${rule}: ${object} ${detail}`,
  )

describe('the migrated schema', () => {
  test('isolates every store from the others', async (t) => {
    assert.deepEqual(await inDatabase(t, report), [])
  })

  test('has every key that is listed as an exception, and each exception is needed', async (t) => {
    const strict = { ...exceptions, keys: {}, withoutStore: {} }
    const breaches = await inDatabase(t, (client) => listBreaches(client, strict))
    const excepted = [...Object.keys(KEY_EXCEPTIONS), ...Object.keys(TABLES_WITHOUT_STORE)]
    assert.deepEqual(breaches.map(({ object }) => object.split('.').at(-1)).sort(), excepted.sort())
  })
})

describe('the check of the schema', () => {
  test('accepts a table that follows the rules', async (t) => {
    const seen = await inDatabase(t, async (client) => {
      await client.query(VALID_TABLE)
      return report(client)
    })
    assert.deepEqual(seen, [])
  })

  test('reports', async (t) => {
    await inDatabase(t, async (client) => {
      const already = await report(client)
      for (const [fault, { plant, seen }] of Object.entries(CASES)) {
        await t.test(fault, async () => {
          // Rolled back, because roles belong to every database of the server.
          await client.query('begin')
          try {
            await client.query(plant)
            const found = (await report(client)).filter((each) => !already.includes(each))
            assert.deepEqual(found, seen)
          } finally {
            await client.query('rollback')
          }
        })
      }
    })
  })
})
