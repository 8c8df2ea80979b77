import type { RouteOptions } from 'fastify'
import type { TSchema } from 'typebox'

/** The parameters of a route's query string, by name. */
export type Query = Readonly<Record<string, TSchema>>

/** The members of an answer, as far as they show whether it has rows. */
interface Answer {
  properties?: Readonly<Record<string, { items?: unknown }>>
}

const READS: readonly unknown[] = ['GET', 'HEAD']

/** The parameters that a list or report knows; null for other reads, and for writes. */
export function filtersOf({
  config,
  method,
  schema,
}: Pick<RouteOptions, 'config' | 'method' | 'schema'>): Query | null {
  if (!READS.includes(method)) return null
  if (config?.query !== undefined) return config.query
  const { 200: success = {} } = (schema?.response ?? {}) as { 200?: Answer }
  const members = Object.values(success.properties ?? {})
  return members.some(({ items }) => items !== undefined) ? {} : null
}

/**
 * Whether the reads of a plane refuse parameters that they do not know. Public and storefront reads do not: trackers
 * add parameters of their own.
 */
export const refusesFilters = (plane: string | undefined): boolean =>
  plane === 'merchant' || plane === 'operator'
