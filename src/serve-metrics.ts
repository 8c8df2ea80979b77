import type { Config } from './config.ts'
import type { Metrics } from './http/metrics.ts'
import { listening } from './taken-port.ts'

interface Parts {
  config: Config
  closers: (() => Promise<unknown>)[]
}

/** Serves the metrics, if a port is set. The code is loaded only then, since counting has its cost. */
export async function serveMetrics({ config, closers }: Parts): Promise<Metrics | null> {
  if (config.METRICS_PORT === 0) return null
  const { openMetrics } = await import('./http/metrics.ts')
  const metrics = openMetrics()
  const server = await listening('METRICS_PORT', metrics.serve(config.HOST, config.METRICS_PORT))
  closers.push(async () => server.close())
  return metrics
}
