import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { sha256 } from '../../../src/kernel/tokens.ts'
import { BUY, buyLabel } from '../../../src/modules/carriers/buy-label.ts'
import { finishLabels } from '../../../src/modules/carriers/jobs.ts'
import type { LabelDeps } from '../../../src/modules/carriers/service.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import { run } from '../../../src/platform/idempotency-run.ts'
import { expireAllClaims } from '../../harness/operations.ts'
import { keyed, type OrderStore } from '../orders/setup.ts'

export const STANDARD = { carrier: 'simulated', service: 'standard' } as const

export const ADDRESS = {
  label: 'Home',
  name: 'Ann Example',
  line1: 'Hauptstraße 1',
  city: 'Berlin',
  state: '',
  postal_code: '10115',
  country: 'DE',
}

export const urlOf = (id: string) => `/v1/merchant/fulfillments/${id}`

/** What tests do with the labels of a store, which is opened before they run. */
export function labelsOf(shared: { current: OrderStore }) {
  const merchant = () => shared.current.shop.merchant
  const packed = async (to: object = {}, weight_grams?: number) => {
    const shipping_address = { ...ADDRESS, ...to }
    const { order } = await shared.current.place({ shipping_address })
    const path = `/v1/merchant/orders/${order.id}/fulfillments`
    const made = await merchant().post(path, weight_grams ? { weight_grams } : {})
    assert.equal(made.status, 201, made.text)
    return { order, id: made.body.fulfillment.id as string }
  }
  return {
    packed,
    // The postcodes of drills are of no country that has rules for them.
    drill: (postal_code: string) => packed({ postal_code, country: 'AO' }),
    buy: (id: string, body: object = STANDARD, key: string = randomUUID()) =>
      merchant().post(`${urlOf(id)}/label`, body, keyed(key)),
    voided: (id: string) => merchant().send('DELETE', `${urlOf(id)}/label`),
    /** Buys as the route does, in a process that does something else at a step, or stops there. */
    async buyUntil(id: string, key: string, point: string, then: () => unknown) {
      const { database, carriers } = shared.current.app.runtime
      const db = database.tenant('acme')
      const at = async (reached: string) => {
        if (reached === point) await then()
      }
      const request = { operation: BUY, key, fingerprint: sha256(key) }
      const deps = { carriers, at }
      const wanted = { carrier: 'simulated' as const, service: 'standard', fulfillment_id: id }
      return run(db, request, (claim) => buyLabel(deps, db, { actor: SYSTEM, claim }, wanted))
    },
    /** Runs the loop that finishes labels, as if every wait were over. */
    async finishDue(deps: Partial<LabelDeps> = {}) {
      const { superuser, app } = shared.current
      const { workerDatabase: database, carriers } = app.runtime
      const alerts: unknown[] = []
      await expireAllClaims(superuser)
      const finished = await finishLabels({
        database,
        carriers,
        onAlert: (alert) => alerts.push(alert),
        ...deps,
      })
      assert.deepEqual(alerts, [])
      return finished
    },
    readParcel: async (id: string) => (await merchant().get(urlOf(id))).body.fulfillment,
    /** The labels of a parcel in the carrier's own books. */
    async sold(id: string) {
      const { rows } = await shared.current.superuser.query(
        `select s.state, s.cost_cents::int as cost_cents, s.tracking_number
           from sim_shipments s join carrier_labels l on l.id = s.ref
          where l.fulfillment_id = $1 order by s.created_at`,
        [id],
      )
      return rows
    },
  }
}
