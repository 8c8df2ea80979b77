import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import type { Gateway } from '../../../src/modules/payments/adapters/gateway.ts'
import { refused } from '../../../src/modules/payments/adapters/results.ts'
import { release } from '../../harness/operations.ts'
import {
  type Bought,
  CANCELLATION,
  type OvertakeApp,
  REVIEWED,
  type Scenario,
  shareOvertakeApp,
} from './overtaken-setup.ts'

const shared = shareOvertakeApp()
let app: OvertakeApp
before(() => {
  app = shared.current
})

const RELEASE: Scenario = {
  operation: 'release',
  begin: (deps, db, caller, { id }) => release(deps, db, caller, id),
}

const buyHeld = () => app.buy(REVIEWED)

const settle = ({ id }: Bought) =>
  app.superuser.query(
    `update sim_charges s set captured_at = now() - interval '2 days' from payment_attempts a
      where a.tenant_ref = s.tenant_ref and a.id = s.ref and a.order_id = $1`,
    [id],
  )

/** Lets the authorisation of a held order lapse. */
const expire = async ({ id }: Bought) => {
  await app.superuser.query(
    `update charges set authorized_until = now() where order_id = $1 and status = 'authorized'`,
    [id],
  )
  return app.expire()
}

/** The worker overtakes, and its capture is refused: the order stays held. */
const overtakeAndRefuse = () =>
  app.overtake({ gateway: () => ({ capture: async () => refused('processing_error') }) })

const captureTooLate = async () => {
  const bought = await buyHeld()
  const gateway = (real: Gateway): Partial<Gateway> => ({
    async capture(what) {
      await overtakeAndRefuse()
      return real.capture(what)
    },
  })
  const reply = await app.begin({ scenario: RELEASE, bought, key: randomUUID(), gateway })
  assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [402, 'true'])
  assert.equal(await app.netOf(bought), 2_000, 'captured for an order that is held')
  return bought
}

describe('an overtaken process', () => {
  test('captures nothing for an order that stays held', async () => {
    const bought = await buyHeld()
    const at = async (point: string) => {
      if (point === 'release-begun') await overtakeAndRefuse()
    }
    const reply = await app.begin({ scenario: RELEASE, bought, key: randomUUID(), at })
    assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [402, 'true'])
    assert.equal(await app.netOf(bought), 0)
    await app.assertAddsUp()
    assert.equal((await app.ask(bought, 'release')).status, 200)
    assert.equal(await app.netOf(bought), 2_000)
  })

  for (const point of ['release-begun', 'release-answered']) {
    test(`answers that the order was released, paused at ${point}`, async () => {
      const bought = await buyHeld()
      const at = async (reached: string) => {
        if (reached === point) await app.overtake()
      }
      const reply = await app.begin({ scenario: RELEASE, bought, key: randomUUID(), at })
      assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [200, 'true'])
      assert.equal(await app.netOf(bought), 2_000)
      await app.assertAddsUp()
    })
  }

  test('an overtaken process whose capture came too late has paid for the next release', async () => {
    const bought = await captureTooLate()
    const answer = await app.ask(bought, 'release')
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.order.status, 'placed')
    await app.assertAddsUp()
  })

  for (const how of ['captured', 'settled']) {
    test(`an overtaken process whose capture came too late has its money refunded by a cancellation, ${how}`, async () => {
      const bought = await captureTooLate()
      if (how === 'settled') await settle(bought)
      const answer = await app.ask(bought, 'cancel', { reason: 'fraud' })
      assert.equal(answer.status, 200, answer.text)
      assert.equal(await app.netOf(bought), 0)
      await app.assertAddsUp()
    })
  }

  for (const point of ['cancel-begun', 'cancel-answered']) {
    test(`an overtaken process whose order expires meanwhile answers with the cancellation, paused at ${point}`, async () => {
      const bought = await buyHeld()
      const key = randomUUID()
      const at = async (reached: string) => {
        if (reached === point) await expire(bought)
      }
      const reply = await app.begin({ scenario: CANCELLATION, bought, key, at })
      assert.equal(reply.status, 200, reply.body)
      assert.equal(JSON.parse(reply.body).order.status, 'cancelled')
      const { rows } = await app.superuser.query(
        'select state from idempotency_keys where key = $1',
        [key],
      )
      assert.equal(rows[0].state, 'answered')
      await app.assertAddsUp()
    })
  }

  test('makes the expiry of an order wait while it is being released', async () => {
    const bought = await buyHeld()
    const at = async (reached: string) => {
      if (reached === 'release-begun') assert.equal(await expire(bought), 0)
    }
    const reply = await app.begin({ scenario: RELEASE, bought, key: randomUUID(), at })
    assert.equal(reply.status, 200, reply.body)
    await app.assertAddsUp()
  })

  test('an overtaken worker at an expired order refunds nothing twice', async () => {
    const bought = await buyHeld()
    const { rows } = await app.superuser.query(
      `select charge_id as ref, txn_id, amount_cents::int, currency from charges where order_id = $1`,
      [bought.id],
    )
    const db = app.runtime.database.tenant(app.shop.tenant)
    // Captured in the gateway's back office, and too long ago to be voided.
    await (await app.depsWith().payments.forStore(db)).capture(rows[0])
    await settle(bought)
    await app.superuser.query(`update charges set authorized_until = now() where order_id = $1`, [
      bought.id,
    ])
    const sent: string[] = []
    const expireBy = (meanwhile: () => Promise<unknown>) =>
      app.expire({
        gateway: (real) => ({
          async refund(what) {
            sent.push(what.ref)
            await meanwhile()
            return real.refund(what)
          },
        }),
      })
    const other = async () => assert.equal(await expireBy(async () => {}), 0)
    assert.equal(await expireBy(other), 1)
    assert.equal(sent.length, 1)
    assert.deepEqual(app.alerts, [])
    const read = await app.shop.merchant.get(`/v1/merchant/orders/${bought.id}`)
    assert.equal(read.body.order.status, 'cancelled')
    await app.assertAddsUp()
  })
})
