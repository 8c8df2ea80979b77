import assert from 'node:assert/strict'
import type { IncomingHttpHeaders, RequestListener, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import type pg from 'pg'
import type { Tx } from '../../../src/db/database.ts'
import { OpenObject } from '../../../src/kernel/schema.ts'
import { type About, defineEvent } from '../../../src/modules/webhooks/define-event.ts'
import {
  createDispatcher,
  type DispatcherOptions,
} from '../../../src/modules/webhooks/dispatcher.ts'
import { numberNewEvents } from '../../../src/modules/webhooks/jobs.ts'
import {
  type Answer,
  type Caller,
  openTestApp,
  type TestApp,
  type TestAppOptions,
} from '../../harness/app.ts'
import { openServers } from '../../harness/servers.ts'

export const PLACED = 'commerce.order.placed.v1'
export const URL = '/v1/merchant/webhooks'
export const LADDER = [60, 300, 1_800, 7_200, 43_200]

export interface AnyEvent extends About {
  type: string
  data: Record<string, unknown>
}

/** Emits an event with any data, as tests of the delivery need it. */
export const emit = (tx: Tx, { type, data, ...about }: AnyEvent) =>
  defineEvent(type, { when: '', data: OpenObject, forEveryStore: type === PLACED }).emit(
    tx,
    data,
    about,
  )

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
}

/** A merchant's endpoint. It answers 200 until `answer` sets another behaviour. */
export interface Receiver {
  port: number
  url(path?: string): string
  received: Received[]
  answer(how: (response: ServerResponse, received: Received) => void): void
}

export async function openReceiver(t: TestContext): Promise<Receiver> {
  const servers = openServers()
  t.after(() => servers.close())
  const received: Received[] = []
  let how: (response: ServerResponse, received: Received) => void = (response) => response.end()
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const { url: path = '', headers } = request
      const one = { path, headers, body: Buffer.concat(chunks) }
      received.push(one)
      how(response, one)
    })
  }
  const port = await servers.http(listener)
  return {
    port,
    received,
    url: (path = '/hook') => `http://127.0.0.1:${port}${path}`,
    answer: (given) => {
      how = given
    },
  }
}

export interface WebhooksApp extends TestApp {
  receiver: Receiver
  admin: pg.Client
  /** Numbers new events and sends what is due, with a new dispatcher. */
  dispatch(options?: Partial<DispatcherOptions>): Promise<number>
  /** Registers an endpoint and returns its id and secret. */
  register(merchant: Caller, url?: string): Promise<{ id: string; secret: string }>
  place(tenant: string, data?: Record<string, unknown>): Promise<string>
  /** Makes every pending delivery due now. */
  makeAllDue(): Promise<void>
}

export async function openWebhooksApp(
  t: TestContext,
  { env, ...options }: TestAppOptions & { targets?: readonly number[] } = {},
): Promise<WebhooksApp> {
  const receiver = await openReceiver(t)
  const targets = [receiver.port, ...(options.targets ?? [])]
  const app = await openTestApp(t, {
    ...options,
    env: { WEBHOOK_TEST_TARGETS: targets.map((port) => `127.0.0.1:${port}`).join(), ...env },
  })
  const { workerDatabase, safeFetch, key, logger } = app.runtime
  const admin = await app.database.openAdmin()
  return {
    ...app,
    receiver,
    admin,
    async dispatch(given = {}) {
      while ((await numberNewEvents(workerDatabase)) > 0);
      const dispatcher = createDispatcher({
        database: workerDatabase,
        fetch: safeFetch,
        key: key('webhook secret'),
        ladder: LADDER,
        logger,
        ...given,
      })
      const begun = await dispatcher.step(new AbortController().signal)
      await dispatcher.drain()
      return begun
    },
    async register(merchant, url = receiver.url()) {
      const made = await merchant.post(URL, { url, events: [PLACED] })
      assert.equal(made.status, 201, made.text)
      return { id: made.body.subscription.id, secret: made.body.secret }
    },
    async place(tenant, data = { order: { id: 'o-1' } }) {
      const db = await app.store(tenant)
      const { event_id } = await db.transaction('test: emit', (tx) =>
        emit(tx, { type: PLACED, data }),
      )
      return event_id
    },
    async makeAllDue() {
      await admin.query(`
        with due as (
          update webhook_deliveries set next_retry_at = now() where status = 'pending'
        )
        update webhook_queue set due_at = now()`)
    },
  }
}

/**
 * Lists deliveries that break the rule of one place: a pending delivery is in the queue or in one lane,
 * and any other delivery is in neither.
 */
export async function listMisplaced(admin: { query(text: string): Promise<{ rows: unknown[] }> }) {
  const { rows } = await admin.query(`
    with places as (
      select tenant_ref, delivery_id as id from webhook_queue
      union all
      select tenant_ref, unnest(deliveries) from webhook_lanes
    ), due as (
      select d.tenant_ref, d.id
        from webhook_deliveries as d
        join webhook_events as e on e.tenant_ref = d.tenant_ref and e.id = d.event_id
       where d.status = 'pending' and e.payload is not null
    )
    select id
      from (select tenant_ref, id, 1 as places, 0 as due from places
             union all
            select tenant_ref, id, 0, 1 from due) as every
     group by tenant_ref, id
    having sum(places) <> 1 or sum(due) <> 1`)
  return rows
}

/** A server that accepts requests and never answers. It has the endpoints of many stores. */
export async function openHanging(t: TestContext) {
  const servers = openServers()
  let closing: Promise<void> | null = null
  const close = () => {
    closing ??= servers.close()
    return closing
  }
  t.after(close)
  const reached = new Set<string | undefined>()
  let open = 0
  const port = await servers.http((request, response) => {
    reached.add(request.url)
    open++
    response.on('close', () => open--)
    request.resume()
  })
  return {
    port,
    /** How many endpoints have been called, and how many calls are under way. */
    reached: () => reached.size,
    open: () => open,
    /** Closes every connection. */
    close,
    /** Opens stores with an endpoint here, each with events for it. */
    async fill(app: WebhooksApp, stores: number, events = 5) {
      for (let n = 0; n < stores; n++) {
        const tenant = `hanging-${n}`
        await app.register(await app.merchant(tenant), `http://127.0.0.1:${port}/${n}`)
        for (let event = 0; event < events; event++) await app.place(tenant, { event })
      }
    },
  }
}

/** The one delivery of a store, with its attempts. */
export async function theDelivery(merchant: Caller) {
  const { body } = await merchant.get('/v1/merchant/deliveries')
  assert.equal(body.deliveries.length, 1)
  return (await merchant.get(`/v1/merchant/deliveries/${body.deliveries[0].id}`)).body.delivery
}

export function assertCode(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.body.error?.code], [status, code], answer.text)
}
