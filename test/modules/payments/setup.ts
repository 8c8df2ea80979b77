import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import type pg from 'pg'
import type { TenantDb } from '../../../src/db/database.ts'
import type { Clock } from '../../../src/kernel/clock.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import type { Charge, Gateway } from '../../../src/modules/payments/adapters/gateway.ts'
import { beginAttempt } from '../../../src/modules/payments/attempts.ts'
import { readCard } from '../../../src/modules/payments/card.ts'
import type { NewAttempt } from '../../../src/modules/payments/schema.ts'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { openSuperuser } from '../../harness/superuser.ts'

export const clockAt = (time: string): Clock => ({ now: () => Date.parse(time) })

export const CARDS = {
  approves: '4111111111111111',
  declines: '4000000000000002',
  poor: '4000000000009995',
  expired: '4000000000000069',
  wrongCode: '4000000000000127',
  broken: '4000000000000119',
  disputed: '4000000000000259',
  silentAfter: '4000000000005126',
  silentBefore: '4000000000005134',
}

export const cardOf = (ccnumber: string, cvv?: string) =>
  readCard({ ccnumber, ccexp: '10/40', ...(cvv === undefined ? {} : { cvv }) }, systemClock)

/** A charge of 12.34, with a reference of its own. */
export const chargeOf = (ccnumber: string, more: Partial<Charge> = {}): Charge => ({
  ref: randomUUID(),
  amount_cents: 1_234,
  currency: 'USD',
  source: { card: cardOf(ccnumber) },
  order_id: randomUUID(),
  ...more,
})

export interface Shop {
  tenant: string
  db: TenantDb
  gateway: Gateway
}

export interface PaymentsApp extends TestApp {
  /** Makes a new store for a test, with its gateway. */
  shop(tenant: string): Promise<Shop>
  /** Reads and changes rows directly, for checks and to move time. */
  superuser: pg.Client
}

export async function openPaymentsApp(
  t: TestContext,
  env: Record<string, string> = {},
): Promise<PaymentsApp> {
  const app = await openTestApp(t, { env })
  const shop = async (tenant: string) => {
    const db = await app.store(tenant)
    return { tenant, db, gateway: await app.runtime.payments.forStore(db) }
  }
  return { ...app, shop, superuser: await openSuperuser(t, app.database) }
}

/** Begins an attempt of 12.34, and returns its id. */
export async function begin(db: TenantDb, more: Partial<NewAttempt> = {}): Promise<string> {
  const id = more.id ?? randomUUID()
  const attempt: NewAttempt = {
    order_id: randomUUID(),
    kind: 'checkout',
    gateway: 'simulated',
    amount_cents: 1_234,
    currency: 'USD',
    ...more,
    id,
  }
  await db.transaction('test: begin', (tx) => beginAttempt(tx, attempt))
  return id
}
