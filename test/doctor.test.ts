import assert from 'node:assert/strict'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { migrate } from '../src/db/migrate.ts'
import { type DoctorOptions, printDoctor, runDoctor } from '../src/doctor.ts'
import { ApiError } from '../src/errors.ts'
import { emptyFolder, query, start } from './harness/embedded.ts'

/** The failed checks and their details. */
const listFailures = async (options: DoctorOptions) =>
  Object.fromEntries(
    (await runDoctor(options)).filter(({ ok }) => !ok).map(({ check, detail }) => [check, detail]),
  )

/** Causes a fault, checks that the doctor finds it, repairs it, and checks that it is gone. */
interface Fault {
  cause: string
  repair: string
  check: string
  detail: RegExp
}

const FAULTS: Record<string, Fault> = {
  'row level security that is off': {
    cause: 'alter table outbox disable row level security',
    repair: 'alter table outbox enable row level security',
    check: 'row level security',
    detail: /^outbox: is not enabled$/,
  },
  'a tenant policy that is gone': {
    cause: 'alter policy tenant on outbox to fd_worker',
    repair: 'alter policy tenant on outbox to fd_app, fd_worker',
    check: 'row level security',
    detail: /^outbox: fd_app has no policy/,
  },
  'a role that bypasses row level security': {
    cause: 'alter role fd_app bypassrls',
    repair: 'alter role fd_app nobypassrls',
    check: 'roles',
    detail: /^fd_app bypasses row level security$/,
  },
  'a role that owns a table': {
    cause: 'alter table mails owner to fd_worker',
    repair: 'alter table mails owner to fd_owner',
    check: 'roles',
    detail: /^fd_worker owns table mails$/,
  },
  'a role that cannot log in': {
    cause: 'alter role fd_worker nologin',
    repair: 'alter role fd_worker login',
    check: 'roles',
    detail: /^fd_worker may not log in$/,
  },
  'a role that is missing': {
    cause: 'alter role fd_search rename to other_search',
    repair: 'alter role other_search rename to fd_search',
    check: 'roles',
    detail: /^missing: fd_search$/,
  },
  'a migration that was changed after it was applied': {
    cause: "update schema_migrations set checksum = 'x' || checksum where version = 2",
    repair: 'update schema_migrations set checksum = substr(checksum, 2) where version = 2',
    check: 'migrations',
    detail: /^migration 2 \(store\) was changed after it was applied; restore its file$/,
  },
  'a database that is newer than the program': {
    cause: "insert into schema_migrations (version, name, checksum) values (9999, 'next', 'x')",
    repair: 'delete from schema_migrations where version = 9999',
    check: 'migrations',
    detail: /newer than this program/,
  },
  'a partition that is missing': {
    cause: `do $$ begin execute (select format('alter table audit_log_%s rename to kept_month',
                                               to_char(now() at time zone 'UTC', 'YYYY_MM'))); end $$`,
    repair: `do $$ begin execute (select format('alter table kept_month rename to audit_log_%s',
                                                to_char(now() at time zone 'UTC', 'YYYY_MM'))); end $$`,
    check: 'partitions',
    detail: /^missing: audit_log of \d{4}-\d{2}$/,
  },
  'a migration that is pending': {
    cause: `alter table schema_migrations rename to kept;
            create table schema_migrations as select * from kept where version <> 2`,
    repair: 'drop table schema_migrations; alter table kept rename to schema_migrations',
    check: 'migrations',
    detail: /^pending: 2 store$/,
  },
}

test('the doctor finds', async (t: TestContext) => {
  const dataDir = await emptyFolder(t)
  const { url } = await start(t, dataDir)
  const options: DoctorOptions = { url, dataDir, pingLimiter: async () => 'pong' }

  await t.test('reports that nothing was migrated yet', async () => {
    const found = await listFailures(options)
    assert.deepEqual(Object.keys(found), ['roles', 'migrations'])
    assert.equal(found.migrations, 'none is applied')
  })

  await migrate({ url, secretKey: 'the secret key of a database for doctors' })
  await t.test('nothing wrong with a sound installation', async () => {
    const findings = await runDoctor(options)
    assert.deepEqual(
      findings.filter(({ ok }) => !ok),
      [],
    )
    assert.equal(findings.length, 13)
  })

  await t.test('a production without its public address, as a warning', async () => {
    const addressOf = async (PUBLIC_URL: string | undefined) => {
      const address = { PUBLIC_URL, production: true, isHttps: true }
      const findings = await runDoctor({ ...options, address })
      return findings.find(({ check }) => check === 'public address')
    }
    const missing = await addressOf(undefined)
    assert.equal(missing?.detail, 'PUBLIC_URL is not set; cookies are for https alone')
    assert.match(missing?.advice ?? '', /Set PUBLIC_URL/)
    assert.equal((await addressOf('https://shops.example'))?.advice, '')
  })

  await t.test('a SECRET_KEY that is not the one of the database', async () => {
    const keyOf = async (secretKey: string) => {
      const findings = await runDoctor({ ...options, secretKey })
      return findings.find(({ check }) => check === 'secret key')
    }
    const changed = 'a secret key that was changed afterwards'
    assert.equal((await keyOf('the secret key of a database for doctors'))?.ok, true)
    assert.equal((await keyOf(changed))?.ok, false)
    // A start with the new key gives the roles new passwords, and the data stays unreadable.
    await migrate({ url, secretKey: changed })
    assert.match((await keyOf(changed))?.detail ?? '', /^SECRET_KEY was changed: it is not the one/)
    await query(url, 'delete from installation')
    assert.match((await keyOf(changed))?.detail ?? '', /is not recorded yet/)
  })

  await t.test('a production that sends no mail, as a warning', async () => {
    const mailOf = async (SMTP_URL: string | undefined, production: boolean) => {
      const findings = await runDoctor({ ...options, mail: { SMTP_URL, production } })
      return findings.find(({ check }) => check === 'mail')
    }
    const missing = await mailOf(undefined, true)
    assert.deepEqual(
      [missing?.ok, missing?.detail],
      [true, 'SMTP_URL is not set, so no mail is sent'],
    )
    assert.match(missing?.advice ?? '', /^Set SMTP_URL/)
    assert.equal((await mailOf(undefined, false))?.advice, '')
    assert.equal((await mailOf('smtp://mail.example', true))?.advice, '')
  })

  await t.test('bloat and unused indexes, as warnings', async () => {
    await query(
      url,
      `create table parts (tenant_ref text not null, id integer, primary key (tenant_ref, id))
         with (autovacuum_enabled = false);
       create index parts_unused on parts (tenant_ref);
       alter table parts enable row level security, force row level security;
       insert into parts select 'acme', n from generate_series(1, 200) n;
       delete from parts where id <= 100;
       select pg_stat_force_next_flush();`,
    )
    const storageLimits = { rowsMin: 50, statisticsDays: 0 }
    const findings = await runDoctor({ ...options, storageLimits })
    const lines: string[] = []
    printDoctor(
      findings.filter(({ check }) => ['bloat', 'indexes'].includes(check)),
      (line) => lines.push(line),
    )
    await query(url, 'drop table parts')
    assert.match(
      lines[0] ?? '',
      /^warn {2}bloat .*parts: 100 dead rows beside 100, last autovacuum never/,
    )
    assert.match(lines[1] ?? '', /^warn {2}indexes .*parts_unused on parts/)
  })

  for (const [name, { cause, repair, check, detail }] of Object.entries(FAULTS)) {
    await t.test(name, async () => {
      await query(url, cause)
      const found = await listFailures(options)
      await query(url, repair)
      assert.deepEqual(Object.keys(found), [check])
      assert.match(found[check] ?? '', detail)
      assert.deepEqual(await listFailures(options), {})
    })
  }

  await t.test('a clock that is wrong by more than two seconds', async () => {
    assert.deepEqual(await listFailures({ ...options, now: () => Date.now() - 1_000 }), {})
    const found = await listFailures({ ...options, now: () => Date.now() - 3_000 })
    assert.match(found.clock ?? '', /^the clocks of database and process differ by [23]\d\d\d ms$/)
  })

  await t.test('a disk that is nearly full', async () => {
    const found = await listFailures({ ...options, diskMinBytes: Number.MAX_SAFE_INTEGER })
    assert.match(found.disk ?? '', /^\d+\.\d GiB free in /)
  })

  await t.test('secrets that others can read', async () => {
    const path = join(dataDir, 'secrets.json')
    await writeFile(path, '{}', { mode: 0o600 })
    assert.deepEqual(await listFailures(options), {})
    await chmod(path, 0o644)
    assert.match((await listFailures(options)).secrets ?? '', /secrets\.json has mode 0644$/)
    await chmod(path, 0o600)
  })

  await t.test('a data folder that others can write to', async () => {
    await chmod(dataDir, 0o777)
    assert.match((await listFailures(options))['data folder'] ?? '', /has mode 0777$/)
    await chmod(dataDir, 0o711)
  })

  await t.test('a data folder that is not there', async () => {
    const found = await listFailures({ ...options, dataDir: join(dataDir, 'none') })
    assert.deepEqual(Object.keys(found), ['disk', 'data folder'])
  })

  await t.test('a limiter that does not answer', async () => {
    const pingLimiter = () => Promise.reject(new Error('connect ECONNREFUSED'))
    assert.deepEqual(await listFailures({ ...options, pingLimiter }), {
      limiter: 'connect ECONNREFUSED',
    })
    const cause = new Error('password authentication failed')
    const refuse = () => Promise.reject(new ApiError('db_error', { cause }))
    assert.deepEqual(await listFailures({ ...options, pingLimiter: refuse }), {
      limiter: cause.message,
    })
  })

  await t.test('ledgers that do not verify, or whose record was tampered with', async () => {
    const sound = { stores: 5, faulty: 0, missing: 0, late: 2, postponed: 0 }
    const look = (change: object) =>
      listFailures({ ...options, summarizeLedgers: async () => ({ ...sound, ...change }) })
    assert.deepEqual(await look({}), {}, 'an installation that is stopped has late ones')
    assert.deepEqual(await look({ faulty: 1 }), { ledger: '1 of 5 do not verify' })
    for (const change of [{ missing: 1 }, { postponed: 1 }]) {
      assert.match((await look(change)).ledger ?? '', /no record of their verification/)
    }
  })

  await t.test('a server that does not answer, and still looks at the rest', async () => {
    const findings = await runDoctor({ ...options, url: 'postgres://x:y@127.0.0.1:1/z' })
    assert.deepEqual(
      findings.map(({ check, ok }) => [check, ok]),
      [
        ['server', false],
        ['disk', true],
        ['data folder', true],
        ['secrets', true],
        ['limiter', true],
      ],
    )
    assert.match(findings[0]?.detail ?? '', /ECONNREFUSED/)
  })
})

test('the doctor prints a line for each finding, and exits with 1 when a check failed', () => {
  const lines: string[] = []
  const print = (ok: boolean) =>
    printDoctor(
      [{ check: 'disk', ok, detail: '0.5 GiB free', advice: ok ? '' : 'Make room' }],
      (line) => lines.push(line),
    )
  assert.equal(print(true), 0)
  assert.equal(print(false), 1)
  assert.deepEqual(lines, ['ok    disk  0.5 GiB free\n', 'FAIL  disk  0.5 GiB free. Make room\n'])
})
