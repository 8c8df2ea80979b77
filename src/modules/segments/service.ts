import { mapViolations } from '../../db/constraints.ts'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import { readTree } from './conditions.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import type { Group, Member, NewSegment, PreviewRequest, Segment, SegmentPatch } from './schema.ts'

/** How many people a preview shows, so that a merchant sees whether the conditions mean what they should. */
const SAMPLE = 5

const NAME_TAKEN = { segments_name: 'segment_exists' } as const

/** Returns the group of a stored segment. Its conditions were checked when they were written. */
const groupOf = ({ match, conditions }: Segment) => ({ match, conditions }) as unknown as Group

export function create(db: TenantDb, actor: audit.Actor, request: NewSegment): Promise<Segment> {
  const group = readTree(request)
  const saving = db.transaction('segments: create', async (tx) => {
    const segment = await queries.insert(tx, { name: request.name, ...group })
    await record(tx, actor, 'created', { after: segment })
    return segment
  })
  return mapViolations(saving, NAME_TAKEN, refuse)
}

export function change(
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  patch: SegmentPatch,
): Promise<Segment> {
  const saving = db.transaction('segments: change', async (tx) => {
    const before = await lock(tx, id)
    const { name, match, conditions } = { ...before, ...patch }
    const after = await queries.update(tx, id, { name, ...readTree({ match, conditions }) })
    await record(tx, actor, 'changed', { before, after })
    return after
  })
  return mapViolations(saving, NAME_TAKEN, refuse)
}

export function remove(db: TenantDb, actor: audit.Actor, id: string): Promise<Segment> {
  return db.transaction('segments: delete', async (tx) => {
    const before = await lock(tx, id)
    await queries.remove(tx, id)
    await record(tx, actor, 'deleted', { before })
    return before
  })
}

async function lock(tx: Tx, id: string): Promise<Segment> {
  const segment = isUuid(id) ? await queries.lock(tx, id) : null
  if (segment === null) throw new ApiError('segment_not_found')
  return segment
}

const record = (
  tx: Tx,
  actor: audit.Actor,
  verb: string,
  change: { before?: Segment; after?: Segment },
) => {
  const id = (change.after ?? change.before)?.id
  return audit.record(tx, actor, { action: `segment.${verb}`, entity: `segment:${id}`, ...change })
}

export async function get(db: Db, id: string): Promise<Segment> {
  const segment = isUuid(id) ? await queries.find(db, id) : null
  if (segment === null) throw new ApiError('segment_not_found')
  return segment
}

export async function list(db: Db, page: Page) {
  const { rows, shown } = await queries.list(db, page)
  return { segments: rows, ...shown }
}

/** Counts the people who meet the conditions, and lists some of them. Stores nothing. */
export async function preview(db: Db, request: PreviewRequest) {
  const group = readTree(request)
  const [counted, sample] = await Promise.all([
    queries.count(db, group),
    queries.listSample(db, group, SAMPLE),
  ])
  return { ...counted, sample }
}

/**
 * Lists the people of a segment in the order of their folded address, each once: those after `after`, which is the
 * `email_folded` of the last person of the previous page. They may lack a consent: `mayBeMailed` says who has one.
 */
export async function members(
  db: Db,
  segmentId: string,
  after: string | null,
  limit: number,
): Promise<Member[]> {
  const segment = await get(db, segmentId)
  return queries.listMembers(db, groupOf(segment), after ?? '', limit)
}
