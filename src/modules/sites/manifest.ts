import type { TSchema } from 'typebox'
import { canonicalHash } from '../../kernel/canonical-json.ts'
import type { Manifest, Warning } from './schema.ts'
import { SECTIONS } from './sections.ts'

/** A manifest twice: parsed, for looking at, and as the text that came, for keeping. */
export interface GivenManifest {
  value: Manifest
  text: string
}

/** Equal manifests have equal hashes, however their keys are ordered and their numbers written. */
export const hashOf = ({ value }: GivenManifest): string => canonicalHash(value)

const NAME_LENGTH_MAX = 200

/** The name shown in the list of versions, if the brand has one. */
export function brandNameOf({ value }: GivenManifest): string | null {
  const name = value.brand?.name
  if (typeof name !== 'string') return null
  // By characters: half of one could not be stored. No more than that many of twice as many units.
  return [...name.slice(0, 2 * NAME_LENGTH_MAX)].slice(0, NAME_LENGTH_MAX).join('')
}

const WARNINGS_MAX = 200

/**
 * What a storefront may not show as meant, or nobody can buy by. Nothing of it is refused or lost.
 */
export async function listWarnings({ value }: GivenManifest): Promise<Warning[]> {
  const warnings = listGateWarnings(value)
  for (const [index, { type, props }] of (value.template?.sections ?? []).entries()) {
    if (warnings.length >= WARNINGS_MAX) break
    const path = `/template/sections/${index}`
    const schema = Object.hasOwn(SECTIONS, type) ? SECTIONS[type] : undefined
    if (schema === undefined) {
      const message = 'This section type is not registered: a storefront may not show it.'
      warnings.push({ path: `${path}/type`, code: 'unregistered_section', message })
    } else {
      warnings.push(...(await listOddProps(schema, props, `${path}/props`)))
    }
  }
  // A section may have several, and the last of them reach beyond.
  return warnings.slice(0, WARNINGS_MAX)
}

/** As long as a checkout may name it. */
const STATEMENT_VERSION_LENGTH_MAX = 100

function listGateWarnings({ behavior }: Manifest): Warning[] {
  const gate = behavior?.funnelGate as { enabled?: unknown; statementVersion?: unknown } | null
  if (gate?.enabled !== true) return []
  const { statementVersion: version } = gate
  const length = typeof version === 'string' ? version.length : 0
  if (typeof version === 'number' || (length > 0 && length <= STATEMENT_VERSION_LENGTH_MAX))
    return []
  const message =
    'Must be a text of 1 to 100 characters. Without it no checkout succeeds while the store has the funnel_gate add-on.'
  const path = '/behavior/funnelGate/statementVersion'
  return [{ path, code: 'unusable_statement', message }]
}

async function listOddProps(schema: TSchema, props: unknown, path: string): Promise<Warning[]> {
  // Loaded with the first manifest that is saved: most processes never save one.
  const { Value } = await import('typebox/value')
  return Value.Errors(schema, props)
    .slice(0, 10)
    .map(({ instancePath, message }) => ({
      path: path + instancePath,
      code: 'unexpected_props' as const,
      message,
    }))
}
