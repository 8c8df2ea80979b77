import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openCheckout } from '../../../src/modules/checkout/open.ts'
import { unknownResult } from '../../../src/modules/payments/adapters/results.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import { run } from '../../../src/platform/idempotency-run.ts'
import { refund } from '../../harness/operations.ts'
import { addVariant, cart, checkout, enable, openCheckoutApp, openShop } from '../checkout/setup.ts'
import { freshKey } from './setup.ts'

const ERASE = '/v1/my/privacy/erase'

test('an erasure', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app)
  const { merchant } = shop
  await enable(merchant, 'subscriptions')
  const terms = { is_subscription: true, subscription_interval: 'month' }
  const tea = await addVariant(merchant, 2_000, terms)
  const db = app.runtime.database.tenant('acme')
  const gateway = await app.runtime.payments.forStore(db)

  const erase = async (customer_ref: string) => {
    const { body } = await merchant.post(ERASE, { customer_ref })
    const answer = await merchant.post(ERASE, { customer_ref, confirm: body.confirm }, freshKey())
    assert.equal(answer.status, 200, answer.text)
  }
  /** Refunds without a reply of the gateway. */
  const refundSilently = async (orderId: string) => {
    const deps = openCheckout(app.runtime)
    const silent = async () => unknownResult()
    const payments = {
      ...deps.payments,
      forStore: async () => ({ ...gateway, void: silent, refund: silent }),
    }
    const claim = { operation: 'refund', key: randomUUID(), fingerprint: Buffer.alloc(32) }
    const begun = run(db, claim, (held) =>
      refund({ ...deps, payments }, db, { actor: SYSTEM, claim: held }, orderId, {
        by: 'merchant',
        body: {},
      }),
    )
    await assert.rejects(begun, { code: 'payment_unconfirmed' })
  }
  const tokens = async () => {
    const { rows } = await app.superuser.query(
      `select 'attempt' as of, kind, state from payment_attempts where vault_id is not null
       union all
       select 'charge', tender, status from charges where vault_id is not null`,
    )
    return rows
  }

  for (const late of [false, true]) {
    const when = late ? 'gets a late reply' : 'ends'
    await t.test(`leaves no stored card after a refund that ${when} after it`, async () => {
      const customer_ref = randomUUID()
      const placed = await checkout(app, shop, cart(tea, { customer_ref, subscribe: true }))
      assert.equal(placed.status, 201, placed.text)
      const { id } = placed.body.order
      await refundSilently(id)
      const { rows } = await app.superuser.query('select txn_id from charges where order_id = $1', [
        id,
      ])
      const end = async () => {
        await app.expireClaims()
        // A refund without a record has failed after an hour.
        app.clock.advance(3_601_000)
        await app.reconcile()
        app.clock.reset()
      }
      if (late) await end()
      await erase(customer_ref)
      assert.deepEqual(await tokens(), [])
      assert.equal((await gateway.void({ txn_id: rows[0].txn_id })).outcome, 'approved')
      if (late) await app.watchLate()
      else await end()
      const { order } = (await merchant.get(`/v1/merchant/orders/${id}`)).body
      assert.equal(order.status, 'refunded')
      assert.deepEqual(await tokens(), [])
      await app.assertAddsUp()
    })
  }
})
