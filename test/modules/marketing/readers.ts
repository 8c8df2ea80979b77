import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import type pg from 'pg'
import { unsubscribeUrl } from '../../../src/modules/marketing/consent.ts'
import { openUnsubscribe } from '../../../src/modules/marketing/open.ts'
import { type Answer, openTestApp, type TestApp } from '../../harness/app.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { openShop } from '../checkout/setup.ts'

export const LIST = '/v1/merchant/marketing/subscribers'
export const CONSENTS = '/v1/merchant/marketing/consents'
export const SUPPRESSIONS = '/v1/merchant/marketing/suppressions'

/** The key by which the mail provider of a test signs. */
export const FEEDBACK_KEY = Buffer.from('a key that the mail provider of a test has').toString(
  'base64',
)

/** The link of an exported line. */
export const linkIn = (line = '') => new URL(/https?:[^"]+/.exec(line)?.[0] ?? '').pathname

/** The headers of a signed request, after Standard Webhooks. */
export function signFeedback(text: string, { key = FEEDBACK_KEY, at = Date.now() } = {}) {
  const id = randomUUID()
  const time = String(Math.floor(at / 1_000))
  const mac = createHmac('sha256', Buffer.from(key, 'base64')).update(`${id}.${time}.${text}`)
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': time,
    'webhook-signature': `v1,${mac.digest('base64')}`,
  }
}

/** A store with a newsletter, its mails, and a mail provider that tells of bounces. */
export async function openReaders(t: TestContext, options: Parameters<typeof openTestApp>[1] = {}) {
  const app = await openTestApp(t, {
    ...options,
    env: { MAIL_FEEDBACK_KEY: FEEDBACK_KEY, ...options.env },
  })
  return openReadersOf(app, await openSuperuser(t, app.database), 'acme')
}

/** The same for one store of an app that is open already. */
export async function openReadersOf(app: TestApp, superuser: pg.Client, tenant: string) {
  const shop = await openShop(app, tenant, [1_000])
  const { merchant } = shop
  const ask = (email: unknown, more: object = {}) =>
    app.storefront.post(`/v1/tenants/${tenant}/newsletter`, { email, source: 'footer', ...more })
  /** The links of the mails to an address, oldest first. */
  const linksTo = async (email: string): Promise<string[]> => {
    const { rows } = await superuser.query(
      'select body from mails where tenant_ref = $1 and recipient = $2 order by created_at',
      [tenant, email],
    )
    return rows.map(({ body }) => new URL(/https?:\/\/\S+/.exec(body)?.[0] ?? '').pathname)
  }
  const subscriber = async (email: string) =>
    (await merchant.get(`${LIST}?${new URLSearchParams({ email })}`)).body.subscribers[0]
  const press = (path: string, headers: Record<string, string> = {}) =>
    fetch(app.url + path, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: 'List-Unsubscribe=One-Click',
    })
  /** Asks, and confirms by the last mailed link. */
  const join = async (email: string, more: object = {}) => {
    assert.equal((await ask(email, more)).status, 202)
    const path = (await linksTo(email)).at(-1) ?? ''
    assert.equal((await press(path)).status, 200)
  }
  /** The path of the link by which an address leaves a store. */
  const leaveLink = (email: string, of = tenant) =>
    new URL(unsubscribeUrl(openUnsubscribe(app.runtime), { tenant: of }, email)).pathname
  /** What is recorded of an address, newest first. */
  const historyOf = async (email: string) =>
    (await merchant.get(`${CONSENTS}?${new URLSearchParams({ email })}`)).body.consents
  /** Tells of bounces and complaints, as the mail provider does. */
  const tell = async (...events: object[]): Promise<Answer> => {
    const body = { events: events.map((event) => ({ event_id: randomUUID(), ...event })) }
    return app.anyone.post('/v1/mail/feedback', body, signFeedback(JSON.stringify(body)))
  }
  return {
    app,
    shop,
    merchant,
    superuser,
    ask,
    linksTo,
    subscriber,
    press,
    join,
    leaveLink,
    historyOf,
    tell,
  }
}
