import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTestApp } from '../../harness/app.ts'
import { assertRefused, countStatuses, keysOf, times } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'

const URL = '/v1/stores'

const shared = share((scope) => openTestApp(scope))
let stores = 0

/** A store that no other test creates. */
const nextStore = () => ({ tenant_ref: `acme-${++stores}`, display_name: 'Acme' })

describe('creating a store', () => {
  test('answers 201 with a draft, numbered after the previous store', async () => {
    const app = shared.current
    const store = nextStore()
    const first = await app.operator.post(URL, { ...store, owner_email: 'Ann@Acme.Example' })
    const second = await app.operator.post(URL, { tenant_ref: 'bolt', display_name: 'Bolt' })
    assert.deepEqual([first.status, second.status], [201, 201])
    assert.deepEqual(keysOf(first.body), ['store'])
    const { created_at, updated_at, store_number, ...rest } = first.body.store
    assert.deepEqual(rest, {
      tenant_ref: store.tenant_ref,
      display_name: 'Acme',
      status: 'draft',
      owner_email: 'ann@acme.example',
      currency: 'USD',
      language: 'en',
      time_zone: 'UTC',
      stock_hint: 'none',
      auto_deliver_days: null,
      sandbox: false,
      primary_hostname: null,
      activeVersion: null,
    })
    assert.equal(created_at, updated_at)
    assert.equal(second.body.store.store_number, store_number + 1)
    assert.equal(second.body.store.owner_email, null)
  })

  test('accepts exactly the slugs of the rule', async () => {
    const app = shared.current
    const store = nextStore()
    const good = ['abc', '000', 'a-b', 'a--b', 'x'.repeat(63), '9-9', 'constructor']
    for (const tenant_ref of good) {
      const made = await app.operator.post(URL, { ...store, tenant_ref })
      assert.equal(made.status, 201, tenant_ref)
    }
    const bad = ['', 'a', 'ab', '-ab', 'ab-', 'Abc', 'a_b', 'a.b', 'a b', 'äbc', 'x'.repeat(64)]
    bad.push('abc\n', 'abc\n-d', '../abc', "a'b", 'a%62c', '\u212Aim')
    await assertRefused(
      bad.map((tenant_ref) => [tenant_ref, tenant_ref, 'invalid_body', 'tenant_ref'] as const),
      (tenant_ref) => app.operator.post(URL, { ...store, tenant_ref }),
    )
  })

  test('refuses a taken slug, and writes nothing', async (t) => {
    const app = shared.current
    const store = nextStore()
    const superuser = await openSuperuser(t, app.database)
    await app.operator.post(URL, store)
    const again = await app.operator.post(URL, { ...store, display_name: 'Another' })
    assert.deepEqual([again.status, again.body.error.code], [409, 'tenant_exists'])
    const { rows } = await superuser.query(
      `select (select count(*)::int from outbox where tenant_ref = $1) as events,
              (select count(*)::int from audit_log where tenant_ref = $1) as entries, display_name
         from stores where tenant_ref = $1`,
      [store.tenant_ref],
    )
    assert.deepEqual(rows, [{ events: 1, entries: 1, display_name: 'Acme' }])
  })

  test('succeeds for one of twenty concurrent requests', async (t) => {
    const app = shared.current
    const store = nextStore()
    const { tenant_ref } = store
    const superuser = await openSuperuser(t, app.database)
    const answers = await times(20, (i) =>
      app.operator.post(URL, { ...store, display_name: `Try ${i}` }),
    )
    assert.deepEqual(countStatuses(answers), { 201: 1, 409: 19 })
    const winner = answers.find(({ status }) => status === 201)?.body.store
    const { rows } = await superuser.query(
      'select type, payload, tenant_ref from outbox where tenant_ref = $1',
      [tenant_ref],
    )
    const payload = { store_ref: tenant_ref, display_name: winner.display_name }
    assert.deepEqual(rows, [{ type: 'store.provisioned.v1', payload, tenant_ref }])
  })

  test('accepts known currencies, languages and time zones only', async () => {
    const app = shared.current
    const store = nextStore()
    const settings = { currency: 'EUR', language: 'PT-br', time_zone: 'America/Sao_Paulo' }
    const made = await app.operator.post(URL, { ...store, ...settings })
    assert.equal(made.body.store.language, 'pt-BR')
    assert.deepEqual(
      [made.body.store.currency, made.body.store.time_zone],
      ['EUR', 'America/Sao_Paulo'],
    )
    const long = 'sh-x-abcdefgh-abcdefgh-abcdefgh-abc'
    assert.equal(long.length, 35)
    const bad = [
      ['currency', 'eur'],
      ['currency', 'EURO'],
      ['currency', 'ZZZ'],
      ['currency', null],
      ['language', 'x'],
      ['language', 'en_US'],
      ['language', 'english please'],
      ['language', long],
      ['time_zone', 'Mars/Olympus'],
      ['time_zone', '+02:00'],
      ['time_zone', ''],
      ['time_zone', 'UTC; drop table stores'],
      ['owner_email', 'nobody'],
      ['owner_email', ''],
      ['display_name', ''],
      ['display_name', 'x'.repeat(201)],
      ['display_name', 5],
    ] as const
    await assertRefused(
      bad.map(([name, value]) => [`${name} ${value}`, { [name]: value }, 'invalid_body', name]),
      (body) => app.operator.post(URL, { ...store, tenant_ref: 'other', ...(body as object) }),
    )
  })

  test('names every invalid setting, not only the first', async () => {
    const app = shared.current
    const bad = { currency: 'ZZZ', language: 'en_US', time_zone: 'Nowhere' }
    const { body } = await app.operator.post(URL, { ...nextStore(), ...bad })
    const paths = body.issues.map(({ path }: { path: string }) => path)
    assert.deepEqual(paths.sort(), ['currency', 'language', 'time_zone'])
  })

  test('ignores status, number and version that the caller sends', async () => {
    const app = shared.current
    const ignored = { status: 'live', store_number: 1_000_000, activeVersion: 7, active_version: 7 }
    const made = await app.operator.post(URL, {
      ...nextStore(),
      ...ignored,
      primary_hostname: 'x.example',
    })
    assert.equal(made.status, 201)
    assert.equal(made.body.store.status, 'draft')
    assert.equal(made.body.store.activeVersion, null)
    assert.equal(made.body.store.primary_hostname, null)
    assert.notEqual(made.body.store.store_number, 1_000_000)
  })
})
