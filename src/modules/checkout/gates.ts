import type { Db } from '../../db/database.ts'
import * as sites from '../sites/service.ts'

/** What a store's site allows at its checkout. */
export interface Gates {
  storeCredit: boolean
  giftCards: boolean
  /** The statement that must be accepted before anything is sold; null where none is asked for. */
  statementVersion: string | null
}

const CLOSED: Gates = { storeCredit: false, giftCards: false, statementVersion: null }

/** Some hundred bytes each. Beyond that the longest unused are read again when they are needed. */
const KEPT_MAX = 5_000

/** Versions never change, so what was read of one is true for ever. */
const kept = new Map<string, Gates>()

export async function gatesOf(db: Db, version: number | null): Promise<Gates> {
  if (version === null) return CLOSED
  const key = `${db.tenant} ${version}`
  const known = kept.get(key)
  if (known !== undefined) return keep(key, known)
  return keep(key, readGates(await sites.readManifest(db, version)))
}

/** Whatever was used last goes last. */
function keep(key: string, gates: Gates): Gates {
  kept.delete(key)
  const [oldest] = kept.keys()
  if (kept.size >= KEPT_MAX && oldest !== undefined) kept.delete(oldest)
  kept.set(key, gates)
  return gates
}

/** Manifests are open: whatever is not there, or is something else, is switched off. */
function readGates(manifest: unknown): Gates {
  const behavior = member(manifest, 'behavior')
  const funnel = member(behavior, 'funnelGate')
  const version = member(funnel, 'statementVersion')
  const asked = member(funnel, 'enabled') === true
  return {
    storeCredit: member(member(behavior, 'storeCredit'), 'enabled') === true,
    giftCards: member(member(behavior, 'giftCards'), 'enabled') === true,
    statementVersion: asked ? String(version ?? '') : null,
  }
}

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
