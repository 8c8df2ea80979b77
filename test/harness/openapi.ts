import type { ApiDocument, Operation } from '../../src/http/api-document.ts'

/** Lists the gaps and duplicates of a document. */
export function listUndescribed(document: ApiDocument): string[] {
  const faults: string[] = []
  const ids = new Map<string, string>()
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const where = `${method.toUpperCase()} ${path}`
      faults.push(...faultsOf(path, operation).map((fault) => `${where} ${fault}`))
      const { operationId } = operation
      if (operationId === undefined) continue
      const other = ids.get(operationId)
      if (other !== undefined) faults.push(`${where} has the operationId of ${other}`)
      ids.set(operationId, where)
    }
  }
  return [...faults, ...listDangling(document)]
}

function faultsOf(path: string, operation: Operation): string[] {
  const { operationId = '', tags = [], summary = '', parameters = [], responses } = operation
  const named = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name)
  const described = parameters.filter((each) => each.in === 'path').map(({ name }) => name)
  return [
    ...(/^[a-z][A-Za-z0-9]+$/.test(operationId) ? [] : ['has no operationId in camel case']),
    ...(tags.length === 1 ? [] : ['has not exactly one tag']),
    ...(/^[A-Z].*\.$/.test(summary) ? [] : ['has no summary that is a sentence']),
    ...(Object.values(responses).some(isUndescribed)
      ? ['has an answer without a description']
      : []),
    ...(named.sort().join() === described.sort().join() ? [] : ['does not describe its path']),
  ]
}

/** The plugin's default text, where an answer has no description. */
const isUndescribed = (answer: object): boolean =>
  'description' in answer && answer.description === 'Default Response'

/** References without a target. */
function listDangling(document: ApiDocument): string[] {
  const refs = new Set(
    [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref ?? ''),
  )
  const known = new Set(
    ['schemas', 'responses'].flatMap((kind) =>
      Object.keys(document.components[kind as 'schemas' | 'responses']).map(
        (name) => `#/components/${kind}/${name}`,
      ),
    ),
  )
  return [...refs].filter((ref) => !known.has(ref)).map((ref) => `${ref} leads nowhere`)
}
