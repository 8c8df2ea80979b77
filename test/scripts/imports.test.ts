import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { findBreaches, findLong, findLostLinks, findLostNames } from '../../scripts/house-rules.ts'
import { checkImports } from '../../scripts/imports.ts'

/** A small tree with the given files, each a list of what it imports. */
async function plant(t: TestContext, files: Record<string, string[]>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'imports-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  for (const [path, imports] of Object.entries(files)) {
    const text = imports.map((from, i) => `import { x as x${i} } from '${from}'`)
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), [...text, 'export const x = 1', ''].join('\n'))
  }
  await writeFile(join(root, 'package.json'), '{"type":"module"}')
  return root
}

/** Checks a tree whose modules are these, from the ground up, each with what its face says that it uses. */
const check = (root: string, uses: Record<string, string[]> = { ledger: [], stores: [] }) =>
  checkImports(root, [
    {
      name: 'ground',
      is: 'what stands on nothing',
      modules: Object.entries(uses).map(([name, used]) => ({ name, is: name, uses: used })),
    },
  ])

const BELOW = { 'src/kernel/a.ts': [], 'src/db/a.ts': ['../kernel/a.ts'] }

describe('the import rule', () => {
  test('allows an import that points to the right', async (t) => {
    const root = await plant(t, {
      ...BELOW,
      'src/modules/stores/schema.ts': [],
      'src/modules/stores/service.ts': ['./schema.ts', '../../db/a.ts'],
      'src/modules/catalog/service.ts': ['../stores/service.ts'],
    })
    const report = await check(root, { stores: [], catalog: ['stores'] })
    assert.deepEqual(report, { modules: 5, violations: [] })
  })

  test("allows a module's files to import their own level and those below", async (t) => {
    const root = await plant(t, {
      'src/modules/ledger/money.ts': [],
      'src/modules/stores/adapters/one/adapter.ts': [],
      'src/modules/stores/adapters/all.ts': ['./one/adapter.ts'],
      'src/modules/stores/open-schema.ts': ['./adapters/all.ts'],
      'src/modules/stores/open-queries.ts': ['./open-schema.ts'],
      'src/modules/stores/open.ts': ['./open-queries.ts'],
      'src/modules/stores/service.ts': ['./open.ts'],
      'src/modules/stores/steps/close.ts': ['../open.ts'],
      'src/modules/stores/open-money.ts': ['./service.ts', '../ledger/money.ts'],
      'src/modules/stores/close-money.ts': ['./open-money.ts', './steps/close.ts'],
      'src/modules/stores/open-jobs.ts': ['./open-money.ts'],
      'src/modules/stores/open-routes.ts': ['./open-jobs.ts', './open.ts'],
      'src/modules/stores/module.ts': ['./open-routes.ts'],
    })
    const report = await check(root, { ledger: [], stores: ['ledger'] })
    assert.deepEqual(report, { modules: 13, violations: [] })
  })

  for (const [from, to] of [
    ['errors', 'schema'],
    ['open-schema', 'open-queries'],
    ['open-schema', 'open'],
    ['open-queries', 'open'],
    ['open-queries', 'service'],
    ['open', 'open-money'],
    ['steps/open', 'money'],
    ['service', 'open-jobs'],
    ['open', 'routes'],
    ['open-money', 'open-jobs'],
    ['jobs', 'open-routes'],
    ['routes', 'module'],
  ] as const) {
    test(`finds ${from}.ts that imports ${to}.ts`, async (t) => {
      const up = from.includes('/') ? '..' : '.'
      const root = await plant(t, {
        [`src/modules/stores/${to}.ts`]: [],
        [`src/modules/stores/${from}.ts`]: [`${up}/${to}.ts`],
      })
      const { violations } = await check(root)
      assert.equal(violations.length, 1)
      assert.match(violations[0] ?? '', / files import only their level and those below it/)
    })
  }

  const planted: [string, Record<string, string[]>, RegExp, Record<string, string[]>?][] = [
    ['a layer that reaches up', { 'src/kernel/b.ts': ['../db/a.ts'] }, /kernel imports only/],
    [
      'a service that knows HTTP',
      {
        'src/http/a.ts': [],
        'src/modules/stores/service.ts': ['../../http/a.ts'],
      },
      /only routes\.ts knows HTTP/,
    ],
    [
      'a file that reaches up in its module',
      {
        'src/modules/stores/service.ts': [],
        'src/modules/stores/queries.ts': ['./service.ts'],
      },
      /queries files import only/,
    ],
    [
      'an adapter that knows its module',
      {
        'src/modules/stores/schema.ts': [],
        'src/modules/stores/adapters/one/adapter.ts': ['../../schema.ts'],
      },
      /an adapter knows nothing else of its module/,
    ],
    [
      'a module that enters one that its face does not name',
      {
        'src/modules/ledger/service.ts': [],
        'src/modules/stores/service.ts': ['../ledger/service.ts'],
      },
      /stores enters the modules that its face names/,
    ],
    [
      'a face that names a module that stands after it',
      {
        'src/modules/catalog/service.ts': [],
        'src/modules/stores/service.ts': ['../catalog/service.ts'],
      },
      /^stores uses catalog, which does not stand before it/,
      { stores: ['catalog'], catalog: [] },
    ],
    [
      'a face that names a module that is never imported',
      { 'src/modules/catalog/service.ts': ['../../db/a.ts'] },
      /^catalog uses stores, which it never imports$/,
      { stores: [], catalog: ['stores'] },
    ],
    [
      'a back door into another module',
      {
        'src/modules/stores/queries.ts': [],
        'src/modules/catalog/service.ts': ['../stores/queries.ts'],
      },
      /errors, queries, jobs, routes and the face are for their own module/,
      { stores: [], catalog: ['stores'] },
    ],
    [
      'a verb that enters the money of another module',
      {
        'src/modules/ledger/post-money.ts': [],
        'src/modules/stores/open.ts': ['../ledger/post-money.ts'],
      },
      /never enter the money of another module/,
      { ledger: [], stores: ['ledger'] },
    ],
    [
      'a module that is not in the list',
      { 'src/modules/mystery/service.ts': ['../../db/a.ts'] },
      /a module stands in the list/,
    ],
    [
      'a module that is known to all faces',
      { 'src/modules/stores/schema.ts': [], 'src/modules/face.ts': ['./stores/schema.ts'] },
      /what all faces share knows no module/,
    ],
    [
      'a feature that prices shipping beside resolveShipping',
      {
        'manifest/shipping.ts': [],
        'src/modules/shipping/resolve.ts': ['../../../manifest/shipping.ts'],
        'src/modules/feeds/items.ts': ['../../../manifest/shipping.ts'],
      },
      /the platform prices shipping in one file/,
      { shipping: [], feeds: [] },
    ],
    [
      'a process that loads what serves for every role',
      { 'src/runtime.ts': [], 'src/main.ts': ['./runtime.ts'] },
      /only to serve/,
    ],
    ['a circle', { 'src/db/b.ts': ['./c.ts'], 'src/db/c.ts': ['./b.ts'] }, /no circles/],
  ]
  for (const [what, files, rule, uses] of planted) {
    test(`finds ${what}`, async (t) => {
      const { violations } = await check(await plant(t, { ...BELOW, ...files }), uses)
      assert.ok(violations.length > 0)
      for (const violation of violations) assert.match(violation, rule)
    })
  }
})

describe('the house rules', () => {
  const breaches: [string, string, string][] = [
    ['an environment read anywhere', 'src/app.ts', 'process.env.PORT'],
    ['SQL in a service', 'src/modules/stores/service.ts', 'sql`select 1`'],
    ['a posting outside money', 'src/modules/orders/service.ts', 'ledger.post(tx)'],
    ['a setting for a whole session', 'src/db/pool.ts', "sql`set app.tenant = 'x'`"],
    [
      'rows that are locked anew for each row',
      'src/platform/mail.ts',
      'id in (select id from mails\n limit 5\n for update skip locked)',
    ],
    ['machine time in a statement', 'src/worker.ts', 'where expires_at <= now()'],
    ["machine time by PostgreSQL's other names", 'src/worker.ts', 'at < clock_timestamp()'],
    ['machine time in TypeScript', 'src/app.ts', 'const age = Date.now() - at'],
    ['a date of the machine', 'src/app.ts', 'const at = new Date().toISOString()'],
    ['a random id of a row', 'src/modules/orders/write-order.ts', 'const id = randomUUID()'],
    ['a random id in a statement', 'src/modules/orders/queries.ts', 'values (gen_random_uuid())'],
    ['a random default', 'generated/schema.sql', '  id uuid not null default gen_random_uuid(),'],
    ['a page by offset', 'src/modules/stores/queries.ts', `limit 10 offset \${offset}`],
    ['a count for a page', 'src/platform/audit.ts', 'select count(*)::int as total from stores'],
    ['a literal spread to save lines', 'src/app.ts', '    ...{ name, email },'],
    ['a literal spread in a test', 'test/app.test.ts', '    ...{ name, email },'],
    ['a comment without a subject', 'src/app.ts', '/** Whoever asks waits. */'],
    ['a comment without its noun', 'src/app.ts', '/** The coupon; null where there is none. */'],
    ['a test name without its noun', 'test/app.test.ts', "test('refuses what is no coupon', work)"],
    ['a comment that is too wide', 'test/app.test.ts', `  // ${'x'.repeat(116)}`],
    ['a literal spread over lines', 'src/app.ts', '    ...{'],
    ['a day of its own', 'test/modules/orders/setup.ts', 'export const DAY_MS = 86_400_000'],
    [
      'a wait for any lock of the server',
      'test/modules/orders/place.test.ts',
      "`select from pg_stat_activity where wait_event_type = 'Lock'`",
    ],
    [
      'a name that begins in the middle',
      'test/app.test.ts',
      "  test('of another store is refused'",
    ],
    ['the name of a gateway in the engine', 'src/modules/orders/pay.ts', "name === 'nmi'"],
    ['the name of a gateway in a setting', 'src/runtime.ts', 'config.NMI_URL'],
    ['the name of a gateway in a page', 'storefront/browser/storefront.js', 'const isNmi = true'],
    [
      'a price of shipping that a feature works out',
      'src/modules/feeds/items.ts',
      'Math.min(shipping.flat_rate_cents, shipping.max_cents)',
    ],
    ['a barrel', 'src/modules/orders/service.ts', "export { get } from './queries.ts'"],
  ]
  for (const [what, path, text] of breaches) {
    test(`find ${what}`, () => {
      assert.equal(findBreaches([{ path, text }]).length, 1)
    })
  }

  test('find one name for two modules', () => {
    const importing = (path: string, module: string) => ({
      path,
      text: `import * as orders from '../${module}/service.ts'`,
    })
    const one = importing('src/modules/checkout/jobs.ts', 'orders')
    const same = importing('src/modules/privacy/jobs.ts', 'orders')
    const other = importing('src/modules/privacy/routes.ts', 'order-changes')
    assert.deepEqual(findBreaches([one, same]), [])
    assert.equal(findBreaches([one, same, other]).length, 1)
    const beside = {
      path: 'src/modules/privacy/service.ts',
      text: `import * as checkout from './checkout-queries.ts'`,
    }
    assert.equal(findBreaches([one, beside]).length, 1, 'the name of a module is of that module')
  })

  test('find a file that is too long to be about one thing, also among the tests', () => {
    const path = 'test/db/pool.test.ts'
    assert.deepEqual(findLong([{ path, text: '\n'.repeat(500) }]), [])
    assert.deepEqual(findLong([{ path, text: '\n'.repeat(501) }]), [
      `${path}: longer than 500 lines`,
    ])
  })

  test('find a page that names a file that does not exist', () => {
    const text = 'See `test/there.test.ts` and `test/gone.test.ts`, not `test`.'
    const found = findLostNames([{ path: 'docs/x.md', text }], (path) => path.includes('there'))
    assert.deepEqual(found, ['docs/x.md: there is no test/gone.test.ts'])
  })

  test('find a relative link to a file that does not exist', () => {
    const text =
      '[a](../README.md) [b](there.md#part) [c](gone.md) [d](gone/e.md#f) [g](#here) ' +
      '[h](https://example.com/gone.md) [i](/docs/gone)'
    const there = ['README.md', 'docs/there.md']
    const found = findLostLinks([{ path: 'docs/x.md', text }], (path) => there.includes(path))
    assert.deepEqual(found, [
      'docs/x.md: the link gone.md leads nowhere',
      'docs/x.md: the link gone/e.md leads nowhere',
    ])
  })

  test('allow each thing in its own place', () => {
    const sources = [
      { path: 'src/config.ts', text: 'process.env' },
      { path: 'src/modules/stores/queries.ts', text: 'sql`select 1`' },
      { path: 'src/modules/orders/money.ts', text: 'ledger.post(tx)' },
      { path: 'src/db/list.ts', text: `limit 10 offset \${offset}` },
      { path: 'src/platform/leases.ts', text: 'select count(*) as due from outbox' },
      { path: 'src/kernel/clock.ts', text: 'Date.now()' },
      { path: 'src/modules/payments/adapters/nmi/gateway.ts', text: "name: 'nmi'" },
      { path: 'src/modules/payments/adapters/all.ts', text: 'const LIST = [simulated, nmi]' },
      { path: 'src/db/sql.ts', text: 'export const machineTime = sql`now()`' },
      { path: 'src/kernel/id.ts', text: 'const random = randomUUID()' },
      { path: 'src/platform/leases.ts', text: 'set lease_token = gen_random_uuid()' },
      { path: 'src/modules/orders/write-order.ts', text: 'const id = newId()' },
      { path: 'test/app.test.ts', text: `// ${'x'.repeat(117)}` },
      { path: 'generated/schema.sql', text: '  id uuid default fd_uuid(), at default now()' },
      { path: 'src/worker.ts', text: 'fd_now() clock.now() performance.now() new Date(at)' },
    ]
    assert.deepEqual(findBreaches(sources), [])
  })
})
