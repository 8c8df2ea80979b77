import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { OpenObject } from '../../kernel/schema.ts'
import { Consent, type ConsentState, type ConsentText, type Withdrawal } from './consent-schema.ts'

/** The statements of consents. Each one that changes the state of a reader also writes a row of the reader's record. */

/** Inserts the texts that are new. The others are known by their hash. */
export const saveTexts = (tx: Tx, texts: readonly ConsentText[]) =>
  tx.run(sql`
    insert into consent_texts (tenant_ref, sha256, version, locale, text)
    select ${tx.tenant}, sha256, version, locale, text
      from jsonb_to_recordset(${JSON.stringify(texts)}::jsonb)
           as t (sha256 text, version text, locale text, text text)
     order by sha256
        on conflict do nothing`)

export interface Confirmation {
  text_sha256: string
  mail_id: string | null
  ip: string | null
}

/** Puts a reader on the list who has confirmed the mailed link. A reader who is already on it is not changed. */
export const confirm = (tx: Tx, id: string, { text_sha256, mail_id, ip }: Confirmation) =>
  tx.run(sql`
    with changed as (
      update newsletter_subscribers as s
         set status = 'subscribed', confirmed_at = fd_now(), unsubscribed_at = null
       where s.tenant_ref = ${tx.tenant} and s.id = ${id} and s.status <> 'subscribed'
      returning s.*
    )
    insert into marketing_consents (tenant_ref, email, email_folded, state, source, text_sha256, form,
                                    form_url, requested_at, requested_ip, mail_id, ip)
    select ${tx.tenant}, email, email_folded, 'given', 'form', ${text_sha256}, source, form_url,
           requested_at, requested_ip, ${mail_id}::uuid, ${ip}
      from changed`)

export interface NewWithdrawal {
  email: string
  email_folded: string
  source: Withdrawal
  ip?: string | null
  actor?: string | null
  note?: string | null
}

/** Takes a reader off the list, even one who was never on it. A reader who has left is not changed. */
export const withdraw = (tx: Tx, withdrawal: NewWithdrawal) =>
  tx.run(sql`
    with changed as (
      insert into newsletter_subscribers as s (tenant_ref, email, email_folded, status,
                                               unsubscribed_at)
      values (${tx.tenant}, ${withdrawal.email}, ${withdrawal.email_folded}, 'unsubscribed', fd_now())
          on conflict (tenant_ref, email_folded) do update
         set status = 'unsubscribed', unsubscribed_at = fd_now()
       where s.status <> 'unsubscribed'
      returning s.email, s.email_folded
    )
    insert into marketing_consents (tenant_ref, email, email_folded, state, source, ip, actor, note)
    select ${tx.tenant}, email, email_folded, 'withdrawn', ${withdrawal.source},
           ${withdrawal.ip ?? null}, ${withdrawal.actor ?? null}, ${withdrawal.note ?? null}
      from changed`)

export interface ImportedConsent {
  email: string
  email_folded: string
  given_at: string
  text_sha256: string
  form: string | null
  form_url: string | null
}

/**
 * Puts readers on the list whose consents the merchant imports. A reader who has left, or is on the list, is not
 * changed. Returns the new ones. Rows are inserted in the order of their addresses, so that two imports do not
 * wait for each other in a circle.
 */
export const importConsents = (tx: Tx, actor: string, consents: readonly ImportedConsent[]) =>
  tx.many(
    Type.Object({ email_folded: Type.String() }),
    sql`
    with wanted as (
      select *
        from jsonb_to_recordset(${JSON.stringify(consents)}::jsonb)
             as w (email text, email_folded text, given_at timestamptz, text_sha256 text, form text,
                   form_url text)
    ), changed as (
      insert into newsletter_subscribers as s (tenant_ref, email, email_folded, status, source,
                                               confirmed_at)
      select ${tx.tenant}, email, email_folded, 'subscribed', form, given_at
        from wanted
       order by email_folded
          on conflict (tenant_ref, email_folded) do update
         set status = 'subscribed', source = excluded.source, confirmed_at = excluded.confirmed_at
       where s.status = 'pending'
      returning s.email_folded
    )
    insert into marketing_consents (tenant_ref, email, email_folded, state, source, text_sha256, form,
                                    form_url, requested_at, actor)
    select ${tx.tenant}, w.email, w.email_folded, 'given', 'import', w.text_sha256, w.form, w.form_url,
           w.given_at, ${actor}
      from wanted w
      join changed using (email_folded)
    returning email_folded`,
  )

/** Lists the states of folded addresses. An address without a decision has no row. */
export const listStates = (db: Db, emails: readonly string[]) =>
  db.many(
    Type.Object({ email_folded: Type.String(), status: Type.String() }),
    sql`
    select email_folded, status
      from newsletter_subscribers
     where tenant_ref = ${db.tenant} and email_folded = any(${emails}::text[])`,
  )

const text = sql`
  (select jsonb_build_object('sha256', t.sha256, 'version', t.version, 'locale', t.locale,
                             'text', t.text)
     from consent_texts t
    where t.tenant_ref = c.tenant_ref and t.sha256 = c.text_sha256)`

const columns = sql`c.id, c.email, c.channel, c.state, c.source, ${text} as text, c.form, c.form_url,
                    c.requested_at, c.requested_ip, c.mail_id, c.ip, c.actor, c.note, c.created_at`

export interface ConsentFilters {
  email_folded?: string | undefined
  state?: ConsentState | undefined
}

/** Lists the decisions of readers, newest first. */
export const list = (db: Db, { email_folded, state }: ConsentFilters, page: Page) =>
  readList(
    db,
    {
      shape: Consent,
      table: sql`marketing_consents`,
      as: sql`c`,
      scope: sql`c.tenant_ref = ${db.tenant}`,
      filters: [
        ...(email_folded === undefined ? [] : [sql`c.email_folded = ${email_folded}`]),
        ...(state === undefined ? [] : [sql`c.state = ${state}`]),
      ],
      key: NEWEST_KEY,
      descending: true,
      columns,
    },
    page,
  )

/** Lists the record of folded addresses, for the reader. */
export const listWhole = (db: Db, emails: readonly string[]) =>
  db.many(
    Type.Object({ data: OpenObject }),
    sql`
    select to_jsonb(c) - array['tenant_ref', 'email_folded', 'actor', 'text_sha256']
           || jsonb_build_object('text', ${text}) as data
      from marketing_consents c
     where c.tenant_ref = ${db.tenant} and c.email_folded = any(${emails}::text[])
     order by c.created_at, c.id`,
  )

export const erase = (tx: Tx, emails: readonly string[]) =>
  tx.run(sql`
    delete from marketing_consents
     where tenant_ref = ${tx.tenant} and email_folded = any(${emails}::text[])`)

/** The condition that the platform does not suppress an address. It knows the address by the hash of `hashAddress`. */
const notSuppressedGlobally = sql`
  not exists (select from global_mail_suppressions g
               where g.email_hash = sha256(convert_to(w.email_folded, 'UTF8')))`

/**
 * Lists those of the addresses that may be written to: they are on the list, and neither the store nor the
 * platform suppresses them. Each is looked up separately: with a join, PostgreSQL might read the whole
 * list at every claim of mails.
 */
export const listMailable = (db: Db, emails: readonly string[]) =>
  db.many(
    Type.Object({ email_folded: Type.String() }),
    sql`
    select w.email_folded
      from unnest(${emails}::text[]) as w (email_folded)
     where (select s.status from newsletter_subscribers s
             where s.tenant_ref = ${db.tenant} and s.email_folded = w.email_folded) = 'subscribed'
       and (select m.suppressed_at from mail_suppressions m
             where m.tenant_ref = ${db.tenant} and m.email_folded = w.email_folded) is null
       and ${notSuppressedGlobally}`,
  )

export const listNotLeft = (db: Db, emails: readonly string[]) =>
  db.many(
    Type.Object({ email_folded: Type.String() }),
    sql`
    select w.email_folded
      from unnest(${emails}::text[]) as w (email_folded)
     where not exists (select from newsletter_subscribers s
                        where s.tenant_ref = ${db.tenant} and s.email_folded = w.email_folded
                          and s.status = 'unsubscribed')
       and not exists (select from mail_suppressions m
                        where m.tenant_ref = ${db.tenant} and m.email_folded = w.email_folded
                          and m.suppressed_at is not null)
       and ${notSuppressedGlobally}`,
  )
