import type { Db } from '../../db/database.ts'
import { forHeavyRead } from '../../db/list.ts'
import { ApiError } from '../../errors.ts'
import { readCursor, writeCursor } from '../../kernel/cursor.ts'
import { isUuid } from '../../kernel/schema.ts'
import type { Suggestion } from './schema.ts'
import { type Demand, listDemand } from './suggestion-queries.ts'

/** Four weeks, so that each day of the week counts as often. */
const DAYS = 28

/** Variants of one page, and movements of each of their levels: some 40,000 rows at most. */
export const EXAMINED = 200
const MOVEMENTS = 200

/** The lead time of a variant whose vendor is unknown, or has none. */
export const LEAD_TIME_DAYS = 14

export interface SuggestionPage {
  suggestions: Suggestion[]
  /** How many variants were examined. */
  examined: number
  next_after?: string
}

/**
 * Lists the variants of the next slice that should be ordered, each with the numbers that
 * its suggestion follows from.
 */
export async function listSuggestions(
  db: Db,
  { after, leadTimeDays }: { after: string | undefined; leadTimeDays: number },
): Promise<SuggestionPage> {
  const slice = { after: readAfter(after), variants: EXAMINED, days: DAYS, movements: MOVEMENTS }
  const examined = await listDemand(forHeavyRead(db), slice)
  const last = examined.at(-1)
  const isFull = examined.length === EXAMINED && last !== undefined
  return {
    suggestions: examined
      .filter(({ archived }) => !archived)
      .map((demand) => suggest(demand, leadTimeDays))
      .filter(({ suggested }) => suggested > 0),
    examined: examined.length,
    ...(isFull && { next_after: writeCursor([last.variant_id]) }),
  }
}

function readAfter(after: string | undefined): string | null {
  if (after === undefined) return null
  const [id] = readCursor(after) ?? []
  if (typeof id !== 'string' || !isUuid(id)) throw new ApiError('invalid_query')
  return id
}

/** `velocity x lead time - available - incoming`, in whole units. */
export function suggest({ archived: _, ...demand }: Demand, leadTimeDefault: number): Suggestion {
  const { sold_units, sold_days, available, incoming } = demand
  const lead_time_days = demand.lead_time_days ?? leadTimeDefault
  // If more units were released than bought, no unit counts as sold.
  const sold = Math.max(0, sold_units)
  const needed = Math.ceil((sold * lead_time_days) / sold_days)
  return {
    ...demand,
    sold_units: sold,
    velocity_per_day: Math.round((sold / sold_days) * 1_000) / 1_000,
    lead_time_days,
    needed,
    suggested: needed - available - incoming,
  }
}
