import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { invalidBody } from '../../errors.ts'
import { foldEmail } from '../../kernel/email.ts'
import { newId } from '../../kernel/id.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import { DAY_SECONDS } from '../../kernel/time.ts'
import * as tokens from '../../kernel/tokens.ts'
import { limitOfAddress, type MailLimit, reserveMail } from '../../platform/address-mails.ts'
import * as audit from '../../platform/audit.ts'
import * as mail from '../../platform/mail.ts'
import { callerOf, type Limits, requireWithin } from '../../platform/rate-limits.ts'
import { type LookDeps, loadStoreLook, writeBranded } from '../sites/mail-look.ts'
import { isKeptFromMail } from '../stores/sandbox-mail.ts'
import * as stores from '../stores/service.ts'
import {
  consentText,
  networkOf,
  openUnsubscribe,
  recordWithdrawal,
  type UnsubscribeDeps,
} from './consent.ts'
import * as consents from './consent-queries.ts'
import type { ConsentText } from './consent-schema.ts'
import { refuse } from './errors.ts'
import * as queries from './newsletter-queries.ts'
import type { NewsletterRequest, Subscriber, SubscriberState } from './newsletter-schema.ts'
import { confirmationContent, confirmationText, languageOf } from './newsletter-texts.ts'
import { liftConfirmed } from './suppressions.ts'

/**
 * The newsletter of a store: which readers want it. A request puts an address on the list only after its reader has
 * confirmed the mailed link. (A merchant can also import consents, see `consent.ts`.) The caller learns nothing of
 * the list: every request is answered alike.
 */

export interface NewsletterDeps extends UnsubscribeDeps, LookDeps {
  /** Signs the links that confirm an address. */
  key: Buffer
  limits: Pick<Limits, 'velocity' | 'releaseHit'>
}

/** Requests per minute of one shopper: enough for typing errors. */
const PER_SHOPPER = 5
/** Requests per minute of a storefront's server that does not send the shopper's address: it has many shoppers. */
const PER_SERVER = 60
/** Requests per minute of all shoppers of a store together. */
const PER_STORE = 120
/** Mails to one address of a store in a day: strangers may ask in its name. */
const MAILS_PER_DAY = 2
const LINK_DAYS = 7

/** The recipient of a mail that is not sent. */
const NO_RECIPIENT = 'no-recipient@example.invalid'
/** Stands for an id, so that the token of a mail that is not sent has the same length. */
const NO_ID = '00000000-0000-4000-8000-000000000000'

/**
 * The payload of a signed link. Links to leave were once signed with the id of a subscriber: mails still have such
 * links, and they work for ever.
 */
type Payload = [
  tenant: string,
  id: string,
  purpose: 'confirm' | 'unsubscribe',
  expires: number | null,
  mail_id?: string,
]

const sign = ({ key }: NewsletterDeps, payload: Payload): string =>
  tokens.sign(key, Buffer.from(JSON.stringify(payload)))

/** Mails a link that confirms the address, unless the address is already on the list. */
export async function subscribe(
  deps: NewsletterDeps,
  db: TenantDb,
  caller: string,
  { email, source = '', form_url = '', ip }: NewsletterRequest,
): Promise<void> {
  const [sender, limit] = ip ? [callerOf(ip), PER_SHOPPER] : [caller, PER_SERVER]
  await requireWithin(deps.limits, `newsletter:${db.tenant}:${sender}`, limit)
  await requireWithin(deps.limits, `newsletter:${db.tenant}`, PER_STORE)
  const email_folded = foldEmail(email)
  if (email_folded === null) throw invalidBody('email', 'must be an e-mail address')
  const reserved = await reserveMail(deps.limits, [
    limitOfStore(db, email_folded),
    limitOfAddress('newsletter', email_folded),
  ])
  const store = await stores.get(db)
  const look = await loadStoreLook(deps, db, store)
  const isSent = await db.transaction('newsletter: request', async (tx) => {
    const requested = await queries.request(tx, {
      email,
      email_folded,
      source: source === '' ? null : source,
      form_url: form_url === '' ? null : form_url,
      ip: networkOf(ip),
    })
    const expires = db.clock.now() + LINK_DAYS * DAY_SECONDS * 1_000
    const mail_id = newId()
    const token = sign(deps, [db.tenant, requested?.id ?? NO_ID, 'confirm', expires, mail_id])
    const url = `${deps.publicUrl()}/v1/newsletter/${token}`
    const isMailed = requested !== null && reserved.isWithin
    await mail.sendIf(tx, isMailed, {
      id: mail_id,
      to: isMailed ? email : NO_RECIPIENT,
      tenant_ref: db.tenant,
      isKept: isKeptFromMail(store, email_folded),
      ...writeBranded(
        { language: languageOf(store.language), store: look },
        confirmationContent(store.language, look.name, url),
      ),
    })
    return isMailed
  })
  await reserved.settle(isSent)
}

const limitOfStore = (db: Db, email_folded: string): MailLimit => ({
  bucket: `newsletter-mails:${db.tenant}:${tokens.sha256(email_folded).toString('base64url')}`,
  limit: MAILS_PER_DAY,
  seconds: DAY_SECONDS,
})

/** The purpose of a mailed link, and the reader that it is for. */
export type Opened =
  | {
      purpose: 'confirm'
      tenant: string
      id: string
      /** A time by the clock of the store. */
      expires: number | null
      mail_id: string | null
    }
  | { purpose: 'unsubscribe'; tenant: string; who: { id: string } | { email: string } }

/** Reads the token of a mailed link. Returns null if the token is not ours. */
export function open(deps: NewsletterDeps, token: string): Opened | null {
  const payload = tokens.verify(deps.key, token)
  if (payload === null) {
    const left = openUnsubscribe(deps, token)
    if (left === null) return null
    return { purpose: 'unsubscribe', tenant: left.tenant, who: { email: left.email } }
  }
  const [tenant, id, purpose, expires, mail_id] = JSON.parse(payload.toString()) as Payload
  if (purpose === 'unsubscribe') return { purpose, tenant, who: { id } }
  return { purpose, tenant, id, expires, mail_id: mail_id ?? null }
}

/** The text that a reader saw when pressing the button, and the reader's address. */
export interface Press {
  text: ConsentText
  ip: string
}

/** Puts a reader on the list. Returns null if the person was erased, or did not confirm in time. */
export function confirm(
  db: TenantDb,
  { id, mail_id }: Extract<Opened, { purpose: 'confirm' }>,
  { text, ip }: Press,
): Promise<Subscriber | null> {
  return db.transaction('newsletter: confirm', async (tx) => {
    await consents.saveTexts(tx, [text])
    const confirmation = { text_sha256: text.sha256, mail_id, ip: networkOf(ip) }
    const changed = await consents.confirm(tx, id, confirmation)
    const found = await queries.find(tx, id)
    if (changed > 0 && found !== null) await liftConfirmed(tx, foldEmail(found.email) ?? '')
    return found
  })
}

/** Takes a reader off the list. Returns null if an old link names a person who was erased. */
export function leave(
  db: TenantDb,
  { who }: Extract<Opened, { purpose: 'unsubscribe' }>,
  { source, ip }: { source: 'link' | 'one_click'; ip: string },
): Promise<{ email: string } | null> {
  return db.transaction('newsletter: unsubscribe', async (tx) => {
    const reader = 'email' in who ? who : await queries.lock(tx, who.id)
    if (reader === null) return null
    await recordLeaving(tx, reader.email, { source, ip: networkOf(ip) })
    return reader
  })
}

const recordLeaving = (
  tx: Tx,
  email: string,
  how: Pick<consents.NewWithdrawal, 'source' | 'ip' | 'actor'>,
) => recordWithdrawal(tx, { email, email_folded: foldEmail(email) ?? email, ...how })

/** The text that a reader agrees to, in the language of the store. */
export const shownText = (language: string, store: string): ConsentText =>
  consentText(confirmationText(language, store))

export async function list(
  db: Db,
  { status, email }: { status: SubscriberState | undefined; email: string | undefined },
  page: Page,
) {
  const email_folded = email === undefined ? undefined : (foldEmail(email) ?? '')
  const { rows, shown } = await queries.list(db, { status, email_folded }, page)
  return { subscribers: rows, ...shown }
}

/** Takes a reader off the list for a merchant. Merchants put readers on it only by an import of consents. */
export function unsubscribe(db: TenantDb, actor: audit.Actor, id: string): Promise<Subscriber> {
  return db.transaction('newsletter: unsubscribe', async (tx) => {
    const found = isUuid(id) ? await queries.lock(tx, id) : null
    if (found === null) throw refuse('subscriber_not_found')
    const how = { source: 'merchant', actor: actor.name } as const
    if (await recordLeaving(tx, found.email, how)) {
      await audit.record(tx, actor, {
        action: 'newsletter.unsubscribed',
        entity: `newsletter_subscriber:${id}`,
      })
    }
    return (await queries.find(tx, id)) ?? found
  })
}
