import type { Db, TenantDb } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { foldEmail } from '../../kernel/email.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as tokens from '../../kernel/tokens.ts'
import * as audit from '../../platform/audit.ts'
import { callerOf, type Limits, requireWithin } from '../../platform/limits.ts'
import * as mail from '../../platform/mail.ts'
import * as stores from '../stores/service.ts'
import * as queries from './newsletter-queries.ts'
import type { Subscriber, SubscriberState, WantedNewsletter } from './newsletter-schema.ts'
import { confirmationMail } from './newsletter-texts.ts'

/**
 * The newsletter of a store: who wants it. An address is on the list only after a person has confirmed
 * it by a mailed link. Who asks learns nothing of the list: every request is answered alike.
 */

export interface NewsletterDeps {
  key: Buffer
  limits: Pick<Limits, 'velocity'>
  /** Where this platform answers. */
  publicUrl: () => string
}

/** Requests per minute of one shopper: enough for typing errors. */
const PER_SHOPPER = 5
/** Of a storefront's server that does not say whose request it sends: it has many shoppers. */
const PER_SERVER = 60
/** Of all shoppers of a store together. */
const PER_STORE = 120
/** Mails to one address of a store in a day: others may ask in its name. */
const MAILS_PER_DAY = 2
const DAY_SECONDS = 86_400
const LINK_DAYS = 7

/** Where a mail would go that is not sent. */
const NOBODY = 'nobody@example.invalid'
/** In place of an id: the token of a mail that is not sent is as long. */
const NO_ID = '00000000-0000-4000-8000-000000000000'

const PURPOSES = ['confirm', 'unsubscribe'] as const
type Purpose = (typeof PURPOSES)[number]

/** An unsubscribe link is in mails of years ago, so that it never expires. */
type Payload = [tenant: string, id: string, purpose: Purpose, expires: number | null]

const sign = ({ key }: NewsletterDeps, payload: Payload): string =>
  tokens.sign(key, Buffer.from(JSON.stringify(payload)))

/** Mails a link by which the address is confirmed, unless it is on the list already. */
export async function subscribe(
  deps: NewsletterDeps,
  db: TenantDb,
  caller: string,
  { email, source = '', ip }: WantedNewsletter,
): Promise<void> {
  const [sender, limit] = ip ? [callerOf(ip), PER_SHOPPER] : [caller, PER_SERVER]
  await requireWithin(deps.limits, `newsletter:${db.tenant}:${sender}`, limit)
  await requireWithin(deps.limits, `newsletter:${db.tenant}`, PER_STORE)
  const email_folded = foldEmail(email)
  if (email_folded === null) throw invalidBody('email', 'must be an e-mail address')
  const mayMail = await deps.limits.velocity(
    `newsletter-mails:${db.tenant}:${tokens.sha256(email_folded).toString('base64url')}`,
    MAILS_PER_DAY,
    DAY_SECONDS,
  )
  const { display_name, language } = await stores.get(db)
  await db.transaction('newsletter: request', async (tx) => {
    const asked = { email, email_folded, source: source === '' ? null : source }
    const requested = await queries.request(tx, asked)
    const expires = db.clock.now() + LINK_DAYS * DAY_SECONDS * 1_000
    const token = sign(deps, [db.tenant, requested?.id ?? NO_ID, 'confirm', expires])
    const url = `${deps.publicUrl()}/v1/newsletter/${token}`
    const isWanted = requested !== null && mayMail
    await mail.sendIf(tx, isWanted, {
      to: isWanted ? email : NOBODY,
      tenant_ref: db.tenant,
      ...confirmationMail(language, display_name, url),
    })
  })
}

/** What a mailed token is for. */
export interface Opened {
  tenant: string
  id: string
  purpose: Purpose
  /** By the clock of its store. */
  expires: number | null
}

/** Null where the token is not ours. */
export function open({ key }: NewsletterDeps, token: string): Opened | null {
  const payload = tokens.verify(key, token)
  if (payload === null) return null
  const [tenant, id, purpose, expires] = JSON.parse(payload.toString()) as Payload
  return { tenant, id, purpose, expires }
}

/** Does what the token is for. Null where the person was erased, or never confirmed in time. */
export function act(db: TenantDb, { id, purpose }: Opened): Promise<Subscriber | null> {
  return db.transaction(`newsletter: ${purpose}`, async (tx) => {
    await (purpose === 'confirm' ? queries.confirm : queries.unsubscribe)(tx, id)
    return queries.find(tx, id)
  })
}

/** The link that ends a subscription, for every newsletter that is sent. */
export const unsubscribeUrl = (deps: NewsletterDeps, { tenant }: Db, id: string): string =>
  `${deps.publicUrl()}/v1/unsubscribe/${sign(deps, [tenant, id, 'unsubscribe', null])}`

export async function list(
  db: Db,
  { status, email }: { status: SubscriberState | undefined; email: string | undefined },
  page: Page,
) {
  const email_folded = email === undefined ? undefined : (foldEmail(email) ?? '')
  const { rows, shown } = await queries.list(db, { status, email_folded }, page)
  return { subscribers: rows, ...shown }
}

/** A merchant takes a reader off the list. Only readers put themselves on it. */
export function unsubscribe(db: TenantDb, actor: audit.Actor, id: string): Promise<Subscriber> {
  return db.transaction('newsletter: unsubscribe', async (tx) => {
    const changed = isUuid(id) ? await queries.unsubscribe(tx, id) : 0
    const found = isUuid(id) ? await queries.find(tx, id) : null
    if (found === null) throw new ApiError('subscriber_not_found')
    if (changed > 0) {
      await audit.record(tx, actor, {
        action: 'newsletter.unsubscribed',
        entity: `newsletter_subscriber:${id}`,
      })
    }
    return found
  })
}
