type Close = () => Promise<unknown>

/**
 * Closes one group after the other, and the members of a group at the same time. A member that
 * fails to close does not keep the others open: its error is thrown once all were tried.
 */
export async function closeAll(groups: Iterable<readonly Close[]>): Promise<void> {
  const errors: unknown[] = []
  for (const group of groups) {
    const closed = await Promise.allSettled(group.map(async (close) => close()))
    for (const each of closed) if (each.status === 'rejected') errors.push(each.reason)
  }
  if (errors.length > 1) throw new AggregateError(errors, 'several parts could not be closed')
  if (errors.length > 0) throw errors[0]
}
