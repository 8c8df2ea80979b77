import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id } from '../../kernel/schema.ts'
import { createTurns } from '../../platform/store-turns.ts'
import {
  Campaign,
  CampaignState,
  type CampaignStatus,
  type CampaignTerms,
  type PauseReason,
} from './schema.ts'

const mailing = sql`
  (select jsonb_build_object(
            'state', m.state, 'recipients_count', m.recipients_count,
            'left_out_count', m.left_out_count,
            'queued_count', m.recipients_count - m.sent_count - m.skipped_count - m.failed_count
                            - m.unknown_count,
            'sent_count', m.sent_count, 'skipped_count', m.skipped_count,
            'failed_count', m.failed_count, 'unknown_count', m.unknown_count)
     from campaign_mailings m
    where m.tenant_ref = c.tenant_ref and m.id = c.id)`

const columns = sql`
  c.id, c.name, c.channel, c.status, c.pause_reason, c.starts_at, c.ends_at,
  case when c.channel = 'email' then c.starts_at end as send_at,
  case when c.budget_type is not null
       then jsonb_build_object('type', c.budget_type, 'limit', c.budget_limit,
                               'used', c.budget_used)
  end as budget,
  jsonb_build_object('source', c.utm_source, 'medium', c.utm_medium,
                     'campaign', c.utm_campaign) as utm,
  c.coupon_count, c.segment_id, c.subject, c.body_markdown, c.sender_name, c.reply_to,
  ${mailing} as mailing, c.created_at, c.updated_at`

const terms = sql`
  name, starts_at, ends_at, budget_type, budget_limit, utm_source, utm_medium, utm_campaign,
  segment_id, subject, body_markdown, sender_name, reply_to`

const valuesOf = ({ budget, utm, ...of }: CampaignTerms) => sql`
  ${of.name}, ${of.starts_at}, ${of.ends_at}, ${budget?.type ?? null}, ${budget?.limit ?? null},
  ${utm.source}, ${utm.medium}, ${utm.campaign}, ${of.segment_id}, ${of.subject},
  ${of.body_markdown}, ${of.sender_name}, ${of.reply_to}`

export const insert = (tx: Tx, campaign: CampaignTerms & { channel: string }) =>
  tx.one(
    Campaign,
    sql`
    insert into campaigns as c (tenant_ref, channel, ${terms})
    values (${tx.tenant}, ${campaign.channel}, ${valuesOf(campaign)})
    returning ${columns}`,
  )

/**
 * Returns when the status changes by itself: at the start of a campaign that waits, at the end of one that is active.
 */
const dueOf = (status: CampaignStatus, { starts_at, ends_at }: Times): string | null => {
  if (status === 'scheduled') return starts_at
  return status === 'active' || status === 'paused' ? ends_at : null
}

interface Times {
  starts_at: string | null
  ends_at: string | null
}

export const update = (tx: Tx, { id, status }: Campaign, campaign: CampaignTerms) =>
  tx.one(
    Campaign,
    sql`
    update campaigns as c
       set (${terms}) = row(${valuesOf(campaign)}), due_at = ${dueOf(status, campaign)},
           updated_at = fd_now()
     where c.tenant_ref = ${tx.tenant} and c.id = ${id}
    returning ${columns}`,
  )

export interface Change extends Times {
  status: CampaignStatus
  pause_reason?: PauseReason
}

/** Changes the status, and with it the time of its next automatic change. */
export const setStatus = (tx: Tx, id: string, change: Change) =>
  tx.one(
    Campaign,
    sql`
    update campaigns as c
       set status = ${change.status}, pause_reason = ${change.pause_reason ?? null},
           starts_at = ${change.starts_at}, ends_at = ${change.ends_at},
           due_at = ${dueOf(change.status, change)}, updated_at = fd_now()
     where c.tenant_ref = ${tx.tenant} and c.id = ${id}
    returning ${columns}`,
  )

export const find = (db: Db, id: string) =>
  db.maybe(
    Campaign,
    sql`select ${columns} from campaigns c where c.tenant_ref = ${db.tenant} and c.id = ${id}`,
  )

/**
 * Locks a campaign, but not its key: a claim that changes the mailing twice makes PostgreSQL check that the
 * campaign exists, and with the key locked would wait for a pause that waits for the mailing.
 */
export const lock = (tx: Tx, id: string) =>
  tx.maybe(
    Campaign,
    sql`
    select ${columns}
      from campaigns c
     where c.tenant_ref = ${tx.tenant} and c.id = ${id}
       for no key update of c`,
  )

export const remove = (tx: Tx, id: string) =>
  tx.run(sql`delete from campaigns where tenant_ref = ${tx.tenant} and id = ${id}`)

export interface CampaignFilters {
  status: CampaignStatus | undefined
  channel: string | undefined
}

/** Lists campaigns, newest first. */
export const list = (db: Db, { status, channel }: CampaignFilters, page: Page) =>
  readList(
    db,
    {
      shape: Campaign,
      table: sql`campaigns`,
      as: sql`c`,
      scope: sql`c.tenant_ref = ${db.tenant}`,
      filters: [
        ...(status === undefined ? [] : [sql`c.status = ${status}`]),
        ...(channel === undefined ? [] : [sql`c.channel = ${channel}`]),
      ],
      key: NEWEST_KEY,
      descending: true,
      columns,
    },
    page,
  )

const isOver = sql`(c.ends_at is not null and c.ends_at <= fd_now())`

/** Finds the state that decides whether the coupons of a campaign can be used. Locks nothing. */
export const findState = (db: Db, id: string) =>
  db.one(
    CampaignState,
    sql`
    select c.status, c.starts_at, ${isOver} as is_over, c.budget_type,
           c.budget_limit - c.budget_used as budget_left
      from campaigns c
     where c.tenant_ref = ${db.tenant} and c.id = ${id}`,
  )

/** Reserves a part of the budget, if enough is left and the campaign is active. */
export const reserveBudget = (tx: Tx, id: string, amount: number) =>
  tx.run(sql`
    update campaigns c set budget_used = budget_used + ${amount}::bigint
     where c.tenant_ref = ${tx.tenant} and c.id = ${id} and c.status = 'active' and not ${isOver}
       and budget_used + ${amount}::bigint <= budget_limit`)

export const releaseBudget = (tx: Tx, id: string, amount: number) =>
  tx.run(sql`
    update campaigns set budget_used = budget_used - ${amount}::bigint
     where tenant_ref = ${tx.tenant} and id = ${id}`)

/** Adds a coupon to the count or subtracts one, under the lock of the campaign. */
export const countCoupons = (tx: Tx, id: string, by: 1 | -1) =>
  tx.run(sql`
    update campaigns set coupon_count = coupon_count + ${by}
     where tenant_ref = ${tx.tenant} and id = ${id}`)

/** The stores that have campaigns to start or to end, each in its turn. */
export const dueTurns = createTurns({ table: sql`campaigns`, due: sql`due_at` })

export const listDue = (db: Db, limit: number) =>
  db.many(
    Type.Object({ id: Id }),
    sql`
    select id
      from campaigns
     where tenant_ref = ${db.tenant} and due_at <= fd_now()
     order by due_at
     limit ${limit}`,
  )

/** Locks a campaign that is due. Returns null if another process was faster. */
export const lockDue = (tx: Tx, id: string) =>
  tx.maybe(
    Campaign,
    sql`
    select ${columns}
      from campaigns c
     where c.tenant_ref = ${tx.tenant} and c.id = ${id} and c.due_at <= fd_now()
       for no key update of c skip locked`,
  )

/** A query of the time at which the next campaign starts or ends. */
export const nextDue = (db: Db) => sql`
  select min(due_at) from campaigns where tenant_ref = ${db.tenant} and due_at is not null`
