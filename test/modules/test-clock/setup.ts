import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { type MoverDeps, moveClocks } from '../../../src/modules/test-clock/jobs.ts'
import { openDueWork } from '../../../src/open-due-work.ts'
import { createTransport } from '../../../src/platform/mail.ts'
import type { Runtime } from '../../../src/runtime.ts'
import { handlersOf } from '../../../src/worker.ts'
import { type Caller, openTestApp, type TestApp, type TestAppOptions } from '../../harness/app.ts'
import { type ReceivedMail, startSmtp } from '../../harness/smtp.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { openShop, type Shop } from '../checkout/setup.ts'
import { openReceiver, type Receiver } from '../webhooks/setup.ts'

export const CLOCK = '/v1/my/test-clock'
export const DAY_MS = 86_400_000

export const keyed = () => ({ 'idempotency-key': randomUUID() })

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
  /** What moves clocks, with changes. */
  mover(more?: Partial<MoverDeps>): MoverDeps
  /** A live store with one variant at 1,000 cents that is a sandbox. */
  openSandbox(tenant: string): Promise<Shop>
  /** Begins a move and lets a worker finish it. Answers what it ran. */
  advance(merchant: Caller, move: object): Promise<ClockRun[]>
  /** Lets a worker move the clock until it stands. Answers its state. */
  finish(merchant: Caller, deps?: MoverDeps): Promise<string>
}

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
    ...moverOf(app.runtime, url),
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
    async openSandbox(tenant) {
      const shop = await openShop(app, tenant)
      const made = await app.operator.put(`/v1/stores/${tenant}/sandbox`, { sandbox: true })
      assert.equal(made.status, 200, made.text)
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

/** What the worker of a process moves clocks with. */
export const moverOf = (runtime: Runtime, smtpUrl: string): MoverDeps => ({
  database: runtime.workerDatabase,
  clocks: runtime.clocks,
  work: openDueWork(runtime, {
    handlers: handlersOf(runtime),
    transport: createTransport(smtpUrl, 'Fairdock <no-reply@fairdock.example>'),
  }),
  onAlert: () => {},
})

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

/** Fails unless a time lies at most a minute after another: that long a slow machine works on one due time. */
export function assertJustAfter(at: string, due: string, what: string): void {
  const late = Date.parse(at) - Date.parse(due)
  assert.ok(late >= 0 && late < 60_000, `${what}: ${at} for ${due}`)
}
