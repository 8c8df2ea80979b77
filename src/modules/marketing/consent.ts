import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { invalidBody, readEach, readParts } from '../../errors.ts'
import { withoutPort } from '../../kernel/address.ts'
import { foldEmail } from '../../kernel/email.ts'
import type { Page } from '../../kernel/page.ts'
import { isCustomerRef } from '../../kernel/schema.ts'
import { toUtc } from '../../kernel/time.ts'
import * as tokens from '../../kernel/tokens.ts'
import * as audit from '../../platform/audit.ts'
import type { ListHeaders } from '../../platform/mail.ts'
import * as customers from '../customers/service.ts'
import * as queries from './consent-queries.ts'
import type {
  ConsentImport,
  ConsentState,
  ConsentText,
  ImportResults,
  WithdrawalRequest,
} from './consent-schema.ts'

/**
 * Consents: which readers may be written to. A consent and its withdrawal are rows that never change. The present state
 * is on the list of the newsletter, which no statement changes without such a row (decision 0051).
 */

/** Returns those of the addresses that marketing may be sent to, as they were given. */
export async function mayBeMailed(db: Db, emails: readonly string[]): Promise<Set<string>> {
  const folded = new Map(emails.map((email) => [email, foldEmail(email)]))
  const addresses = [...new Set(folded.values())].filter((each) => each !== null)
  if (addresses.length === 0) return new Set()
  const found = await queries.listMailable(db, addresses)
  const mailable = new Set(found.map(({ email_folded }) => email_folded))
  return new Set(emails.filter((email) => mailable.has(folded.get(email) ?? '')))
}

/**
 * Returns those of the addresses that have not left and are not suppressed. It does not check for a consent: it is
 * for mails that a law allows without one.
 */
export async function hasNotLeft(db: Db, emails: readonly string[]): Promise<Set<string>> {
  const folded = new Map(emails.map((email) => [email, foldEmail(email)]))
  const addresses = [...new Set(folded.values())].filter((each) => each !== null)
  if (addresses.length === 0) return new Set()
  const found = await queries.listNotLeft(db, addresses)
  const reachable = new Set(found.map(({ email_folded }) => email_folded))
  return new Set(emails.filter((email) => reachable.has(folded.get(email) ?? '')))
}

export interface UnsubscribeDeps {
  /** Encrypts the addresses in links. */
  unsubscribeKey: Buffer
  /** The base URL at which this platform answers. */
  publicUrl: () => string
}

/** The purpose of an encrypted link, so that it cannot be used as anything else. */
const LINK = 'unsubscribe link'

/**
 * Returns the link by which a reader leaves. It is encrypted: proxies and logs see the addresses of pages, and need
 * not learn whose they are. It never expires, because mails of years ago have it.
 */
export function unsubscribeUrl(
  { unsubscribeKey, publicUrl }: UnsubscribeDeps,
  { tenant }: Pick<Db, 'tenant'>,
  email: string,
): string {
  const address = foldEmail(email)
  if (address === null) throw new Error('a link needs an e-mail address')
  const token = tokens.encryptText(unsubscribeKey, JSON.stringify([tenant, address]), LINK)
  return `${publicUrl()}/v1/unsubscribe/${token.toString('base64url')}`
}

/** The headers by which mail programs offer to leave in one click (RFC 8058). */
export const unsubscribeHeaders = (
  deps: UnsubscribeDeps,
  db: Pick<Db, 'tenant'>,
  email: string,
): ListHeaders => ({
  'List-Unsubscribe': `<${unsubscribeUrl(deps, db, email)}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
})

/** Decrypts a link: returns the store and the address that it is for, or null if the link is not ours. */
export function openUnsubscribe(
  { unsubscribeKey }: UnsubscribeDeps,
  token: string,
): { tenant: string; email: string } | null {
  const bytes = Buffer.from(token, 'base64url')
  // Node decodes leniently: a link has one spelling, and any other was changed.
  if (bytes.toString('base64url') !== token) return null
  try {
    const [tenant, email] = JSON.parse(
      tokens.decryptText(unsubscribeKey, bytes, LINK).toString(),
    ) as [string, string]
    return { tenant, email }
  } catch {
    return null
  }
}

/** How many bits of an address are recorded: enough to place a reader, too few to identify one. */
const IPV4_BITS = 24
const IPV6_BITS = 48

/** Returns the network of an address, or null if the text is no address. */
export function networkOf(written: string | null | undefined): string | null {
  const ip = withoutPort(written ?? '')
  if (isIP(ip) === 0) return null
  const address = ipaddr.process(ip)
  const bits = address.kind() === 'ipv4' ? IPV4_BITS : IPV6_BITS
  const network = ipaddr.fromByteArray(address.toByteArray().fill(0, bits / 8))
  return `${network}/${bits}`
}

/** Returns a text as it is recorded: known by the hash of the shown text. */
export const consentText = (text: Omit<ConsentText, 'sha256'>): ConsentText => ({
  ...text,
  sha256: tokens.sha256(text.text).toString('hex'),
})

/** Records that a reader leaves. Returns false if the reader had left before. */
export async function recordWithdrawal(
  tx: Tx,
  withdrawal: queries.NewWithdrawal,
): Promise<boolean> {
  return (await queries.withdraw(tx, withdrawal)) > 0
}

function requireFolded(email: string, path = 'email'): string {
  const folded = foldEmail(email)
  if (folded === null) throw invalidBody(path, 'must be an e-mail address')
  return folded
}

/** Records for a merchant that a person wants no more mails, even a person who was never on the list. */
export function withdraw(db: TenantDb, actor: audit.Actor, { email, note }: WithdrawalRequest) {
  const email_folded = requireFolded(email)
  return db.transaction('consent: withdraw', async (tx) => {
    const withdrawal = { email, email_folded, source: 'merchant', actor: actor.name } as const
    const recorded = (await queries.withdraw(tx, { ...withdrawal, note: note ?? null })) > 0
    if (recorded) {
      // The log does not name the person: it outlives an erasure.
      await audit.record(tx, actor, { action: 'consent.withdrawn', entity: 'marketing_consent' })
    }
    return { consent: { email, state: 'withdrawn' as const }, recorded }
  })
}

/** The version of texts that a merchant imports. Their hash identifies the wording. */
const IMPORTED = 'import'

/**
 * Imports consents that were given elsewhere, each with its evidence. A reader who has left the
 * list is not put on it again.
 */
export async function importConsents(
  db: TenantDb,
  actor: audit.Actor,
  { consents }: ConsentImport,
): Promise<ImportResults> {
  const rows = readEach(consents, (each, index) => readImported(db, each, `consents.${index}`))
  const first = new Map(rows.toReversed().map((row) => [row.email_folded, row]))
  const unique = rows.filter((row) => first.get(row.email_folded) === row)
  return db.transaction('consent: import', async (tx) => {
    const known = new Map(
      (await queries.listStates(tx, [...first.keys()])).map((each) => [
        each.email_folded,
        each.status,
      ]),
    )
    await queries.saveTexts(tx, uniqueTexts(unique))
    const imported = await queries.importConsents(tx, actor.name, unique)
    const isNew = new Set(imported.map(({ email_folded }) => email_folded))
    if (isNew.size > 0) {
      await audit.record(tx, actor, {
        action: 'consent.imported',
        entity: 'marketing_consent',
        after: { count: isNew.size },
      })
    }
    const statusOf = (row: ImportedRow) => {
      if (first.get(row.email_folded) !== row) return 'repeated'
      if (isNew.has(row.email_folded)) return 'imported'
      return known.get(row.email_folded) === 'unsubscribed' ? 'withdrawn' : 'already_given'
    }
    return {
      results: rows.map((row, index) => ({ index, email: row.email, status: statusOf(row) })),
    }
  })
}

interface ImportedRow extends queries.ImportedConsent {
  text: ConsentText
}

function readImported(
  db: TenantDb,
  { email, given_at, text, locale = 'und', form, form_url }: ConsentImport['consents'][number],
  path: string,
): ImportedRow {
  const read = readParts({
    email_folded: () => requireFolded(email, `${path}.email`),
    given_at: () => {
      const at = toUtc(given_at)
      if (at !== null && Date.parse(at) <= db.clock.now()) return at
      throw invalidBody(`${path}.given_at`, 'must be in the past')
    },
  })
  const shown = consentText({ text, locale, version: IMPORTED })
  return {
    email,
    ...read,
    text: shown,
    text_sha256: shown.sha256,
    form: form ?? null,
    form_url: form_url ?? null,
  }
}

const uniqueTexts = (rows: readonly ImportedRow[]): ConsentText[] => [
  ...new Map(rows.map(({ text }) => [text.sha256, text])).values(),
]

/** Lists the records of all readers, or of one: by address, or by the address of a customer. */
export async function list(
  db: Db,
  customersKey: Buffer,
  filters: {
    email?: string | undefined
    customer_ref?: string | undefined
    state?: ConsentState | undefined
  },
  page: Page,
) {
  const { customer_ref, state } = filters
  const email =
    customer_ref === undefined
      ? filters.email
      : await emailOf(db, customersKey, customer_ref, filters.email)
  const email_folded = email === undefined ? undefined : (foldEmail(email) ?? '')
  const { rows, shown } = await queries.list(db, { email_folded, state }, page)
  return { consents: rows, ...shown }
}

/**
 * Finds the address of a customer. Returns no address if there is no such customer, or
 * if both are named and differ.
 */
async function emailOf(db: Db, key: Buffer, customer_ref: string, named: string | undefined) {
  const customer = isCustomerRef(customer_ref) ? await customers.find(db, key, customer_ref) : null
  const email = customer?.email ?? ''
  return named === undefined || foldEmail(named) === foldEmail(email) ? email : ''
}
