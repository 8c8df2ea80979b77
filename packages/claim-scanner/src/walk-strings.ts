/** No document that passed the parser is deeper or larger. The limits end a circular value. */
const DEPTH_MAX = 1_000
const NODES_MAX = 2_000_000

export type Segment = string | number
type Visit = (text: string, path: readonly Segment[]) => void

/** Calls back with every key and every string in document order, a key before its value. */
export function walkStrings(value: unknown, visit: Visit) {
  const path: Segment[] = []
  let nodes = 0
  const enter = (node: unknown) => {
    nodes += 1
    if (nodes > NODES_MAX) throw new Error('the document has too many nodes to scan')
    if (typeof node === 'string') return visit(node, path)
    if (typeof node !== 'object' || node === null) return
    const depth = path.length
    if (depth === DEPTH_MAX) throw new Error('the document is too deep to scan')
    if (Array.isArray(node)) {
      for (let index = 0; index < node.length; index += 1) {
        path[depth] = index
        enter(node[index])
      }
    } else {
      for (const [key, member] of Object.entries(node)) {
        path[depth] = key
        visit(key, path)
        enter(member)
      }
    }
    path.length = depth
  }
  enter(value)
}
