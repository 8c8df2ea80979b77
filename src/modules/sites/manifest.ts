import type { TSchema } from 'typebox'
import { canonicalHash } from '../../kernel/canonical-json.ts'
import type { Manifest, Warning } from './schema.ts'
import { SECTIONS } from './sections.ts'

/** A manifest as it was received: parsed, to be checked, and as the original text, to be stored. */
export interface ReceivedManifest {
  value: Manifest
  text: string
}

/** Equal manifests have equal hashes, however their keys are ordered and their numbers written. */
export const hashOf = ({ value }: ReceivedManifest): string => canonicalHash(value)

const NAME_LENGTH_MAX = 200

/** The name shown in the list of versions, if the brand has one. */
export function brandNameOf({ value }: ReceivedManifest): string | null {
  const name = value.brand?.name
  if (typeof name !== 'string') return null
  // Cut by characters, since half of a surrogate pair cannot be stored. The first slice limits the
  // work.
  return [...name.slice(0, 2 * NAME_LENGTH_MAX)].slice(0, NAME_LENGTH_MAX).join('')
}

const WARNINGS_MAX = 200

/**
 * Lists the parts of a manifest that a storefront may not show as intended, or that prevent
 * checkouts. They are warnings only: the manifest is stored as it is.
 */
export async function listWarnings({ value }: ReceivedManifest): Promise<Warning[]> {
  const warnings = listFunnelGateWarnings(value)
  for (const [index, { type, props }] of (value.template?.sections ?? []).entries()) {
    if (warnings.length >= WARNINGS_MAX) break
    const path = `/template/sections/${index}`
    const schema = Object.hasOwn(SECTIONS, type) ? SECTIONS[type] : undefined
    if (schema === undefined) {
      const message = 'This section type is not registered: a storefront may not show it.'
      warnings.push({ path: `${path}/type`, code: 'unregistered_section', message })
    } else {
      warnings.push(...(await listPropWarnings(schema, props, `${path}/props`)))
    }
  }
  // The last section may have added more than the limit.
  return warnings.slice(0, WARNINGS_MAX)
}

/** The longest version that a checkout may name. */
const STATEMENT_VERSION_LENGTH_MAX = 100

function listFunnelGateWarnings({ behavior }: Manifest): Warning[] {
  const funnelGate = behavior?.funnelGate as {
    enabled?: unknown
    statementVersion?: unknown
  } | null
  if (funnelGate?.enabled !== true) return []
  const { statementVersion: version } = funnelGate
  const length = typeof version === 'string' ? version.length : 0
  if (typeof version === 'number' || (length > 0 && length <= STATEMENT_VERSION_LENGTH_MAX))
    return []
  const message =
    'Must be a text of 1 to 100 characters. Without it no checkout succeeds while the store has the funnel_gate add-on.'
  const path = '/behavior/funnelGate/statementVersion'
  return [{ path, code: 'unusable_statement', message }]
}

async function listPropWarnings(schema: TSchema, props: unknown, path: string): Promise<Warning[]> {
  // Imported with the first manifest that is saved: most processes never save one.
  const { Value } = await import('typebox/value')
  return Value.Errors(schema, props)
    .slice(0, 10)
    .map(({ instancePath, message }) => ({
      path: path + instancePath,
      code: 'unexpected_props' as const,
      message,
    }))
}
