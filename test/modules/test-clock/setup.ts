import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { listDueWork } from '../../../src/compose/due-work.ts'
import { openHandlers } from '../../../src/compose/handlers.ts'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { type MoverDeps, moveClocks } from '../../../src/modules/test-clock/jobs.ts'
import { createBulkTransport } from '../../../src/platform/bulk-smtp.ts'
import { createTransport } from '../../../src/platform/mail.ts'
import type { Runtime } from '../../../src/runtime.ts'
import { type Caller, openTestApp, type TestApp, type TestAppOptions } from '../../harness/app.ts'
import { type ReceivedMail, startSmtp } from '../../harness/smtp.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { openShop, type Shop } from '../checkout/setup.ts'
import { openReceiver, type Receiver } from '../webhooks/setup.ts'

export const CLOCK = '/v1/my/test-clock'

export const keyed = () => ({ 'idempotency-key': randomUUID() })

/** Rows of a store that its business moves, in every table that could be touched, as one text. */
const EVERYTHING = `
  select string_agg(kept.line, E'\\n' order by kept.line) as text from (
    select 'card ' || to_jsonb(g)::text as line from gift_cards g where tenant_ref = $1
    union all select 'lot ' || to_jsonb(l)::text from store_credit_lots l where tenant_ref = $1
    union all select 'order ' || to_jsonb(o)::text from orders o where tenant_ref = $1
    union all select 'charge ' || to_jsonb(c)::text from charges c where tenant_ref = $1
    union all select 'parcel ' || to_jsonb(f)::text from fulfillments f where tenant_ref = $1
    union all select 'event ' || to_jsonb(e)::text from webhook_events e where tenant_ref = $1
    union all select 'delivery ' || to_jsonb(d)::text from webhook_deliveries d where tenant_ref = $1
    union all select 'queued ' || to_jsonb(q)::text from webhook_queue q where tenant_ref = $1
    union all select 'mail ' || to_jsonb(m)::text from shopper_mails m where tenant_ref = $1
    union all select 'reader ' || to_jsonb(n)::text from newsletter_subscribers n where tenant_ref = $1
    union all select 'key ' || to_jsonb(k)::text from idempotency_keys k where tenant_ref = $1
    union all select 'journal ' || to_jsonb(j)::text from ledger_journals j where tenant_ref = $1
    union all select 'subscription ' || to_jsonb(s)::text from subscriptions s where tenant_ref = $1
    union all select 'cycle ' || to_jsonb(c)::text from subscription_cycles c where tenant_ref = $1
    union all select 'gateway ' || to_jsonb(g)::text from sim_charges g where tenant_ref = $1
    union all select 'clock ' || to_jsonb(t)::text from test_clocks t where tenant_ref = $1) as kept`

export interface ClockRun {
  at: string
  kind: string
  id: string | null
  outcome: string
}

export interface ClockApp extends TestApp {
  superuser: pg.Client
  receiver: Receiver
  mails: ReceivedMail[]
  alerts: Record<string, unknown>[]
  /** The deps that move clocks, with changes. */
  mover(more?: Partial<MoverDeps>): MoverDeps
  /** A live store with one variant at 1,000 cents that is a sandbox. */
  openSandbox(tenant: string): Promise<Shop>
  /** Begins a move and lets a worker finish it. Returns the work that it ran. */
  advance(merchant: Caller, move: object): Promise<ClockRun[]>
  /** Lets a worker move the clock until the move has ended. Returns its state. */
  finish(merchant: Caller, deps?: MoverDeps): Promise<string>
  /** All rows of a store that its business moves, to compare with what they were. */
  everythingOf(tenant: string): Promise<string>
}

const OWNER = 'owner@example.com'

/** An address whose mails a sandbox sends: one of its owner. */
export const shopperNamed = (name: string) => `owner+${name}@example.com`

const SIGNAL = new AbortController().signal

/** The platform with an endpoint and a mail server, and without a worker: tests take its steps. */
export async function openClockApp(
  t: TestContext,
  { env, ...options }: TestAppOptions = {},
): Promise<ClockApp> {
  const receiver = await openReceiver(t)
  const { url, received: mails } = await startSmtp(t)
  const app = await openTestApp(t, {
    ...options,
    env: {
      WEBHOOK_TEST_TARGETS: `127.0.0.1:${receiver.port}`,
      CHECKOUT_VELOCITY_PER_MINUTE: '1000000',
      ...env,
    },
  })
  const superuser = await openSuperuser(t, app.database)
  const alerts: Record<string, unknown>[] = []
  const usual: MoverDeps = {
    ...(await moverOf(app.runtime, url)),
    onAlert: (alert, message) => alerts.push({ ...alert, message }),
  }
  const mover = (more: Partial<MoverDeps> = {}) => ({ ...usual, ...more })
  const finish = async (merchant: Caller, deps = usual) => {
    for (;;) {
      await moveClocks(deps, SIGNAL)
      const { body } = await merchant.get(CLOCK)
      if (body.state !== 'advancing') return body.state as string
      await pause(5)
    }
  }
  return {
    ...app,
    superuser,
    receiver,
    mails,
    alerts,
    mover,
    finish,
    everythingOf: async (tenant) =>
      (await superuser.query(EVERYTHING, [tenant])).rows[0].text as string,
    async openSandbox(tenant) {
      const shop = await openShop(app, tenant)
      const made = await app.operator.put(`/v1/stores/${tenant}/sandbox`, { sandbox: true })
      assert.equal(made.status, 200, made.text)
      await superuser.query('update stores set owner_email = $2 where tenant_ref = $1', [
        tenant,
        OWNER,
      ])
      return shop
    },
    async advance(merchant, move) {
      const begun = await merchant.post(CLOCK, move)
      assert.equal(begun.status, 202, begun.text)
      assert.equal(begun.body.state, 'advancing')
      assert.equal(await finish(merchant), 'ready', JSON.stringify(alerts))
      return readRuns(merchant)
    },
  }
}

/** The deps with which the worker of a process moves clocks. */
export async function moverOf(runtime: Runtime, smtpUrl: string): Promise<MoverDeps> {
  const senders = {
    transport: createTransport(smtpUrl, 'Fairdock <no-reply@fairdock.example>'),
    // The mail server ends after its last connection.
    bulk: createBulkTransport(smtpUrl, { idleMs: 200 }),
  }
  return {
    database: runtime.workerDatabase,
    clocks: runtime.clocks,
    work: await listDueWork({ ...runtime, ...senders }, await openHandlers(runtime)),
    onAlert: () => {},
  }
}

/** All that the last move ran, page by page. */
export async function readRuns(merchant: Caller): Promise<ClockRun[]> {
  const ran: ClockRun[] = []
  for (let after = ''; ; ) {
    const { body } = await merchant.get(`${CLOCK}?limit=100${after && `&after=${after}`}`)
    ran.push(...body.ran)
    if (body.next_after === undefined) return ran
    after = encodeURIComponent(body.next_after)
  }
}

export const inDays = (days: number, from: string | number = Date.now()) =>
  new Date(new Date(from).getTime() + days * DAY_MS).toISOString()

/** Fails unless a time is at most some minutes after another: so long a slow machine may work on one due time. */
export function assertJustAfter(at: string, due: string, what: string): void {
  const late = Date.parse(at) - Date.parse(due)
  assert.ok(late >= 0 && late < 300_000, `${what}: ${at} for ${due}`)
}
