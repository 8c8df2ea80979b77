import type { Db, TenantDb } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { foldEmail } from '../../kernel/email.ts'
import { DAY_MS, HOUR_SECONDS } from '../../kernel/time.ts'
import * as tokens from '../../kernel/tokens.ts'
import { limitOfAddress, type MailLimit, reserveMail } from '../../platform/address-mails.ts'
import * as mail from '../../platform/mail.ts'
import { callerOf, type Limits, requireWithin } from '../../platform/rate-limits.ts'
import { lockByNumber } from '../orders/read.ts'
import * as orders from '../orders/service.ts'
import { type LookDeps, loadStoreLook, writeBranded } from '../sites/mail-look.ts'
import { isKeptFromMail } from '../stores/sandbox-mail.ts'
import * as stores from '../stores/service.ts'
import { languageOf, linkContent } from './mail.ts'
import type { LinkRequest } from './schema.ts'

/**
 * The link to an order that is mailed to its shopper. It opens the order in any browser, not only in the one that
 * bought. The caller learns nothing: an order that does not exist is answered like one that does.
 */

export interface LinkDeps extends LookDeps {
  key: Buffer
  limits: Pick<Limits, 'velocity' | 'releaseHit'>
  /** Returns the address of the store's storefront at one of its hosts, without a path; null for any other host. */
  originAt(db: Db, hostname: string): Promise<string | null>
}

/** Requests per minute of one shopper: enough for typing errors. */
const PER_SHOPPER = 5
/** Requests per minute of a storefront's server that does not send the shopper's address: it has many shoppers. */
const PER_SERVER = 60
/** Requests per minute of all shoppers of a store together. */
const PER_STORE = 120
/** Mails to one address of a store in an hour: strangers may ask for links in its name. */
const MAILS_PER_HOUR = 3

/** How long a link opens its order. A shopper who needs it later asks for a new one. */
const LINK_DAYS = 7

/** The recipient of a mail that is not sent. */
const NO_RECIPIENT = 'no-recipient@example.invalid'

type Payload = [tenant: string, orderId: string, expires: number, email: string]

/**
 * The e-mail address of an order, as a link carries it: a link that was mailed to a wrong address ends when it is
 * corrected.
 */
const markOf = ({ id, email }: LinkedOrder): string =>
  tokens
    .sha256(`${id} ${foldEmail(email ?? '') ?? ''}`)
    .subarray(0, 12)
    .toString('base64url')

export interface LinkedOrder {
  id: string
  email: string | null
}

export async function mailLink(
  deps: LinkDeps,
  db: TenantDb,
  caller: string,
  request: LinkRequest,
): Promise<void> {
  const { ip } = request
  const [sender, limit] = ip ? [callerOf(ip), PER_SHOPPER] : [caller, PER_SERVER]
  await requireWithin(deps.limits, `order-links:${db.tenant}:${sender}`, limit)
  await requireWithin(deps.limits, `order-links:${db.tenant}`, PER_STORE)
  const url = await checkReturnUrl(deps, db, request.return_url)
  const email = foldEmail(request.email) ?? ''
  const reserved = await reserveMail(deps.limits, [
    limitOfStore(db, email),
    limitOfAddress('order_link', email),
  ])
  const store = await stores.get(db)
  const look = await loadStoreLook(deps, db, store)
  const isSent = await db.transaction('order link: mail', async (tx) => {
    const order = await lockByNumber(tx, request.order_number)
    const isTheirs = order?.email != null && foldEmail(order.email) === email
    const token = createLinkToken(deps.key, db, order ?? { id: '', email: null }, LINK_DAYS)
    const isMailed = isTheirs && reserved.isWithin
    await mail.sendIf(tx, isMailed, {
      to: isTheirs ? (order.email ?? NO_RECIPIENT) : NO_RECIPIENT,
      tenant_ref: db.tenant,
      ...(order !== null && { order_id: order.id }),
      isKept: isKeptFromMail(store, email),
      ...writeBranded(
        { language: languageOf(store.language), store: look },
        linkContent(store.language, {
          store: look.name,
          number: request.order_number,
          url: url + token,
        }),
      ),
    })
    return isMailed
  })
  // A wrong number mails nothing, and must not keep the shopper from the link to the right one.
  await reserved.settle(isSent)
}

const limitOfStore = (db: Db, email_folded: string): MailLimit => ({
  bucket: `order-link-mails:${db.tenant}:${tokens.sha256(email_folded).toString('base64url')}`,
  limit: MAILS_PER_HOUR,
  seconds: HOUR_SECONDS,
})

/** Returns the token of a link that opens an order for `days` days. */
export function createLinkToken(key: Buffer, db: Db, order: LinkedOrder, days: number): string {
  const payload: Payload = [db.tenant, order.id, db.clock.now() + days * DAY_MS, markOf(order)]
  return tokens.sign(key, Buffer.from(JSON.stringify(payload)))
}

/**
 * Finds the order of a link, and the customer who placed it. An erased customer's order is not found, and neither is an
 * order whose e-mail address is no longer the one that the link was mailed to.
 */
export async function openLink({ key }: LinkDeps, db: Db, token: string) {
  const payload = tokens.verify(key, token)
  if (payload === null) throw new ApiError('order_not_found')
  const [tenant, id, expires, mark] = JSON.parse(payload.toString()) as Payload
  if (tenant !== db.tenant || expires < db.clock.now()) throw new ApiError('order_not_found')
  const order = await orders.get(db, id)
  if (order.email === null || mark !== markOf(order)) throw new ApiError('order_not_found')
  return {
    order_id: order.id,
    customer_ref: order.customer_ref,
    expires_at: new Date(expires).toISOString(),
  }
}

/**
 * Reads the address of the page that opens links. A mail of the store must not lead to a stranger with the token in its
 * link, so another host is refused, and protocol and port are those at which the store's own host answers: a shopper's
 * request may name any.
 */
async function checkReturnUrl({ originAt }: LinkDeps, db: Db, text: string): Promise<string> {
  const url = URL.parse(text)
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password
  const isPage = isPlain && url.search === '' && url.hash === ''
  const origin = isPage ? await originAt(db, url.hostname) : null
  if (isPage && origin !== null) return `${origin}${url.pathname.replace(/\/*$/, '/')}`
  throw invalidBody('return_url', 'must be an http(s) address at a host of the store')
}
