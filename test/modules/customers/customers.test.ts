import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { SeenCustomer } from '../../../src/modules/customers/schema.ts'
import * as customers from '../../../src/modules/customers/service.ts'
import * as stores from '../../../src/modules/stores/service.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import { openTestDatabase } from '../../harness/database.ts'
import { times } from '../../harness/refusals.ts'
import { dumpText, openSuperuser } from '../../harness/superuser.ts'

const key = randomBytes(32)
const page = { limit: 25, offset: 0 }

test('a customer', async (t) => {
  const testDatabase = await openTestDatabase(t)
  const database = testDatabase.open('fd_app')
  const superuser = await openSuperuser(t, testDatabase)
  for (const tenant_ref of ['acme', 'globex']) {
    await stores.create(database, SYSTEM, { tenant_ref, display_name: tenant_ref })
  }
  const [acme, globex] = [database.tenant('acme'), database.tenant('globex')]
  const see = (seen: SeenCustomer, db = acme) =>
    db.transaction('see', (tx) => customers.recordSeen(tx, key, seen))
  const erase = (ref: string) => acme.transaction('erase', (tx) => customers.erase(tx, key, ref))
  /** The row's version, which changes with every write. */
  const versionOf = async (email: string) =>
    (await superuser.query('select xmin::text from customers where email = $1', [email])).rows

  await t.test('is stored when first seen, and a missing member stays as it was', async () => {
    const person_id = randomUUID()
    await see({ customer_ref: 'клиент/7', email: 'Ann@Example.com', person_id })
    await see({ customer_ref: 'клиент/7', name: 'Ann' })
    const { first_seen_at, updated_at, ...rest } = await customers.get(acme, key, 'клиент/7')
    assert.deepEqual(rest, {
      customer_ref: 'клиент/7',
      person_id,
      email: 'Ann@Example.com',
      name: 'Ann',
      tags: [],
    })
    await see({ customer_ref: 'клиент/7', email: 'ann@new.example' })
    assert.deepEqual(await customers.listByEmail(acme, 'ann@example.com'), [])
    assert.equal((await customers.listByEmail(acme, 'ANN@NEW.example')).length, 1)
  })

  await t.test('is not written again if no member is new', async () => {
    const seen = { customer_ref: 'same', email: 'same@example.com', name: 'Same' }
    await see(seen)
    const before = await versionOf('same@example.com')
    await see(seen)
    await see({ customer_ref: 'same' })
    assert.deepEqual(await versionOf('same@example.com'), before)
    await see({ ...seen, name: 'Other' })
    assert.notDeepEqual(await versionOf('same@example.com'), before)
  })

  await t.test('is one row, also when concurrent transactions see them', async () => {
    await times(20, (n) => see({ customer_ref: 'busy', name: `Busy ${n}` }))
    const { total } = await customers.list(acme, { q: 'busy' }, page)
    assert.equal(total, 1)
  })

  await t.test(
    'is found by any spelling of the e-mail address, as guest and as account',
    async () => {
      await see({ customer_ref: 'guest-1', email: 'Bob@Bücher.example' })
      await see({ customer_ref: 'account-1', email: 'bob@xn--bcher-kva.EXAMPLE' })
      await see({ customer_ref: 'guest-2', email: 'bob+2@bücher.example' })
      const found = await customers.listByEmail(acme, 'BOB@bücher.example')
      assert.deepEqual(
        found.map(({ customer_ref }) => customer_ref),
        ['guest-1', 'account-1'],
      )
      assert.deepEqual(await customers.listByEmail(acme, 'nobody'), [])
    },
  )

  await t.test(
    'is listed newest first, and found by a part of reference, name or address',
    async () => {
      for (const n of [1, 2, 3]) await see({ customer_ref: `l${n}`, name: `Lister ${n}` })
      const refs = async (filters: object, wanted = page) => {
        const { customers: rows, total } = await customers.list(acme, filters, wanted)
        return [rows.map(({ customer_ref }) => customer_ref), total]
      }
      assert.deepEqual(await refs({ q: 'LISTER' }), [['l3', 'l2', 'l1'], 3])
      assert.deepEqual(await refs({ q: 'lister' }, { limit: 1, offset: 1 }), [['l2'], 3])
      await see({ customer_ref: 'found', name: 'Mary Ann Listing', email: 'm@Lists.example' })
      assert.deepEqual(await refs({ q: 'y ann l' }), [['found'], 1], 'a part of a name')
      assert.deepEqual(await refs({ q: '@LISTS' }), [['found'], 1], 'a part of an address')
      assert.deepEqual(await refs({ q: 'ound' }), [['found'], 1], 'a part of a reference')
      assert.equal((await refs({ q: '' }))[1], (await refs({}))[1], 'an empty text is no filter')
    },
  )

  await t.test('is separate in each store', async () => {
    await see({ customer_ref: 'same', name: 'Elsewhere' }, globex)
    assert.equal((await customers.get(globex, key, 'same')).name, 'Elsewhere')
    assert.notEqual((await customers.get(acme, key, 'same')).name, 'Elsewhere')
    const names = ['acme', 'globex'].map((tenant) => customers.pseudonym(key, tenant, 'same'))
    assert.notEqual(names[0], names[1])
  })

  await t.test('leaves nothing when erased, and is not restored', async () => {
    const seen = {
      customer_ref: 'erin@private.example',
      email: 'erin@private.example',
      name: 'Erin',
    }
    await see(seen)
    const pseudonym = await erase(seen.customer_ref)
    assert.match(pseudonym, /^erased:[0-9a-f]{32}$/)
    await see(seen)
    await times(5, () => see(seen))
    assert.equal(await erase(seen.customer_ref), pseudonym)
    assert.equal(await customers.find(acme, key, seen.customer_ref), null)
    await assert.rejects(customers.get(acme, key, seen.customer_ref), {
      code: 'customer_not_found',
    })
    assert.equal(await customers.isErased(acme, key, seen.customer_ref), true)
    assert.equal(await customers.isErased(acme, key, 'same'), false)
    assert.deepEqual(await customers.listByEmail(acme, seen.email), [])
    assert.doesNotMatch(await dumpText(superuser), /erin/i)
  })

  await t.test('is never stored if erased before the first order', async () => {
    await erase('early')
    await see({ customer_ref: 'early', name: 'Early Bird' })
    assert.equal(await customers.find(acme, key, 'early'), null)
    assert.doesNotMatch(await dumpText(superuser), /Early Bird/)
  })

  await t.test('stays erased if an order comes at the same time', async () => {
    for (let n = 0; n < 10; n++) {
      const seen = { customer_ref: `race-${n}`, name: 'Racer' }
      await see(seen)
      await Promise.all([see({ ...seen, name: 'Racer 2' }), erase(seen.customer_ref), see(seen)])
    }
    assert.doesNotMatch(await dumpText(superuser), /Racer/)
  })
})
