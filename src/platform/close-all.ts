type Close = () => Promise<unknown>

/**
 * Closes one group after the other, the members of a group at the same time. A member that cannot be
 * closed keeps none of the others open: what it threw is thrown once all were tried.
 */
export async function closeAll(groups: Iterable<readonly Close[]>): Promise<void> {
  const faults: unknown[] = []
  for (const group of groups) {
    const closed = await Promise.allSettled(group.map(async (close) => close()))
    for (const each of closed) if (each.status === 'rejected') faults.push(each.reason)
  }
  if (faults.length > 1) throw new AggregateError(faults, 'several parts could not be closed')
  if (faults.length > 0) throw faults[0]
}
