import ts from 'typescript'

/**
 * The written parts of a name with those of the tests around it, as Node puts them together. Between two
 * parts is a gap that is filled when the test runs.
 */
type Name = readonly string[]

export interface NamedTests {
  files: string[]
  /** The values for Node's `--test-name-pattern`. */
  patterns: string[]
}

/** An overlap of fewer letters than this is chance. */
const OVERLAP_MIN = 4

/**
 * Finds the tests that have a text in their names. Files without one are left out: Node would run their
 * hooks and no test. Node does not look for a test within a test (`t.test`), so the outer test runs,
 * which the inner one builds on anyway.
 */
export function findByName(text: string, sources: ReadonlyMap<string, string>): NamedTests {
  const files = new Set<string>()
  const patterns = new Set([escapePattern(text)])
  for (const [file, source] of sources) {
    const isWritten = source.includes(text)
    eachTest(source, (name, outer) => {
      // The text of a gap is in the same file, as a rule: in the table that the tests are made from.
      if (!(touches(name, text) || (isWritten && name.length > 1))) return
      files.add(file)
      if (outer !== null) patterns.add(outer)
    })
  }
  return { files: [...files], patterns: [...patterns] }
}

/** Whether a part has the text, or begins, ends or fills it, with a gap for the rest. */
function touches(name: Name, text: string): boolean {
  return name.some((part, i) => {
    if (part.includes(text)) return true
    const beginsWith = i < name.length - 1 && hasOverlap(part, text)
    const endsWith = i > 0 && hasOverlap(text, part)
    const fills = part.trim().length >= OVERLAP_MIN && text.includes(part)
    return beginsWith || endsWith || fills
  })
}

/** Whether the end of the first is the beginning of the second. */
function hasOverlap(first: string, second: string): boolean {
  for (let length = OVERLAP_MIN; length <= Math.min(first.length, second.length); length += 1) {
    if (first.endsWith(second.slice(0, length))) return true
  }
  return false
}

const escapePattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')

/** Visits every test and suite; a test within another is visited with the pattern of the outermost. */
function eachTest(source: string, visit: (name: Name, outer: string | null) => void): void {
  const walk = (node: ts.Node, around: Name, outer: string | null) => {
    const kind = kindOf(node)
    const title = kind === null ? [] : partsOf((node as ts.CallExpression).arguments[0])
    const name = kind === null ? around : join(around, title)
    if (kind !== null) visit(name, outer)
    const inner = kind === 'test' ? (outer ?? title.map(escapePattern).join('.*')) : outer
    ts.forEachChild(node, (child) => walk(child, name, inner))
  }
  walk(ts.createSourceFile('test.ts', source, ts.ScriptTarget.Latest), [], null)
}

/** Tells `test('…', …)` and `t.test('…', …)` from `describe('…', …)`; returns null for anything else. */
function kindOf(node: ts.Node): 'test' | 'suite' | null {
  if (!ts.isCallExpression(node) || node.arguments.length < 2) return null
  const { expression } = node
  if (ts.isPropertyAccessExpression(expression)) {
    return expression.name.text === 'test' ? 'test' : null
  }
  if (!ts.isIdentifier(expression)) return null
  return expression.text === 'test' ? 'test' : expression.text === 'describe' ? 'suite' : null
}

function partsOf(title: ts.Expression | undefined): Name {
  if (title === undefined) return []
  if (ts.isStringLiteralLike(title)) return [title.text]
  if (!ts.isTemplateExpression(title)) return ['', '']
  return [title.head.text, ...title.templateSpans.map((span) => span.literal.text)]
}

function join(around: Name, [first = '', ...rest]: Name): Name {
  const last = around.at(-1)
  return last === undefined
    ? [first, ...rest]
    : [...around.slice(0, -1), `${last} ${first}`, ...rest]
}
