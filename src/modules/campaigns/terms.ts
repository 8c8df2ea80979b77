import { invalidBody, invalidBodyOf } from '../../errors.ts'
import { isUuid } from '../../kernel/schema.ts'
import { toUtc } from '../../kernel/time.ts'
import {
  type Campaign,
  type CampaignPatch,
  type CampaignTerms,
  EMAIL,
  type Schedule,
} from './schema.ts'

/** Checks the members that a merchant sets for a campaign, and returns them as they are stored. */

/** A campaign before any member was set. */
export const NO_TERMS = {
  starts_at: null,
  ends_at: null,
  budget: null,
  utm: { source: null, medium: null, campaign: null },
  segment_id: null,
  subject: null,
  body_markdown: null,
  sender_name: null,
  reply_to: null,
}

type Known = CampaignTerms & {
  channel: string
  budget: Campaign['budget'] | CampaignTerms['budget']
}

const MAIL_TERMS = ['segment_id', 'subject', 'body_markdown', 'sender_name', 'reply_to'] as const

/** The terms after a change, or a refusal that lists the invalid ones. */
export function checkTerms(before: Known, patch: CampaignPatch): CampaignTerms {
  const issues: { path: string; message: string }[] = []
  const check = (holds: boolean, path: string, message: string) => {
    if (!holds) issues.push({ path, message })
  }
  const isMail = before.channel === EMAIL
  for (const name of MAIL_TERMS) {
    check(isMail || patch[name] == null, name, 'is only for the channel email')
  }
  const { segment_id } = patch
  check(segment_id == null || isUuid(segment_id), 'segment_id', 'must be the id of a segment')
  check(isMail || patch.send_at == null, 'send_at', 'is only for the channel email')
  const times = readTimes(before, patch, check)
  checkBudget(before, patch, check)
  if (issues.length > 0) throw invalidBodyOf(issues)
  const keep = <K extends (typeof MAIL_TERMS)[number] | 'budget'>(name: K) =>
    patch[name] === undefined ? before[name] : patch[name]
  return {
    name: patch.name ?? before.name,
    ...times,
    budget: keep('budget') ?? null,
    utm: patch.utm === undefined ? before.utm : { ...NO_TERMS.utm, ...patch.utm },
    segment_id: keep('segment_id')?.toLowerCase() ?? null,
    subject: keep('subject') ?? null,
    body_markdown: keep('body_markdown') ?? null,
    sender_name: keep('sender_name') ?? null,
    reply_to: keep('reply_to') ?? null,
  }
}

type Check = (holds: boolean, path: string, message: string) => void

function readTimes(before: Known, patch: CampaignPatch, check: Check) {
  const { starts_at, send_at } = patch
  check(
    starts_at === undefined || send_at === undefined || starts_at === send_at,
    'send_at',
    'is another name of starts_at: send one of them',
  )
  const read = (name: string, value: string | null | undefined, kept: string | null) => {
    if (value === undefined) return kept
    const at = value === null ? null : toUtc(value)
    check(value === null || at !== null, name, 'must be a time in the years 1 to 9999')
    return at
  }
  const times = {
    starts_at: read('starts_at', starts_at === undefined ? send_at : starts_at, before.starts_at),
    ends_at: read('ends_at', patch.ends_at, before.ends_at),
  }
  const { starts_at: from, ends_at: to } = times
  check(from === null || to === null || Date.parse(from) < Date.parse(to), 'ends_at', LATER)
  return times
}

const LATER = 'must be after starts_at'

/**
 * Refuses to change the type of a budget that is partly used: the used part is counted in that type. Only the limit can
 * change then.
 */
function checkBudget({ budget: before }: Known, { budget }: CampaignPatch, check: Check): void {
  const used = before !== null && 'used' in before ? before.used : 0
  if (budget === undefined || used === 0) return
  check(
    budget?.type === before?.type,
    'budget.type',
    'cannot change once a part of the budget is used',
  )
}

/** Returns when a campaign is to start and end. Without a time it starts now. */
export function readStart(
  before: Campaign,
  request: Schedule,
  { now, lateMs }: { now: number; lateMs: number },
): { starts_at: string; ends_at: string | null } {
  const terms = checkTerms(before, request)
  const isAsked = (request.starts_at ?? request.send_at ?? null) !== null
  const start = terms.starts_at === null ? now : Date.parse(terms.starts_at)
  if (isAsked && start < now - lateMs) {
    throw invalidBody('starts_at', 'is more than an hour ago: leave it out to start now')
  }
  const at = new Date(Math.max(start, now)).toISOString()
  const { ends_at } = terms
  if (ends_at !== null && Date.parse(ends_at) <= Date.parse(at)) {
    throw invalidBody('ends_at', LATER)
  }
  return { starts_at: at, ends_at }
}
