/** No document that passed the parser is deeper or larger; a circle would never end. */
const DEPTH_MAX = 1_000
const NODES_MAX = 2_000_000

export type Segment = string | number

interface Frame {
  entries: Iterator<[Segment, unknown]>
  isArray: boolean
}

/** Calls back with every key and every string in document order, a key before its value. */
export function walkStrings(
  value: unknown,
  visit: (text: string, path: readonly Segment[]) => void,
) {
  const path: Segment[] = []
  const frames: Frame[] = []
  let nodes = 0
  const enter = (node: unknown) => {
    nodes += 1
    if (nodes > NODES_MAX) throw new Error('the document has too many nodes to scan')
    if (typeof node === 'string') visit(node, path)
    if (typeof node !== 'object' || node === null) return false
    if (frames.length === DEPTH_MAX) throw new Error('the document is too deep to scan')
    const isArray = Array.isArray(node)
    const entries = isArray ? node.entries() : Object.entries(node)[Symbol.iterator]()
    frames.push({ entries, isArray })
    return true
  }
  enter(value)
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const next = frame.entries.next()
    if (next.done) {
      frames.pop()
      path.pop()
      continue
    }
    const [key, child] = next.value
    path.push(key)
    if (!frame.isArray) visit(String(key), path)
    if (!enter(child)) path.pop()
  }
}
