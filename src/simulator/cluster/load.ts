/** Made-up but repeatable figures: what a database or a node is doing. All statistics are views of these. */
import {hashText} from '../base/random.ts'

interface Load {
  readonly connections: number
  readonly totalConnections: number
  readonly failedConnections: number
  readonly requestsPerSecond: number
  readonly ingressBytesPerSecond: number
  readonly egressBytesPerSecond: number
  readonly latencyMicros: number
  readonly cpuShare: number
}

/** The load of a thing at a time; it changes every ten seconds. */
export function loadOf(thing: string, now: number): Load {
  const figure = (name: string, least: number, most: number): number => {
    const part = (hashText(`${thing} ${name} ${Math.floor(now / 10_000)}`) >>> 0) / 2 ** 32
    return least + Math.floor(part * (most - least))
  }
  return {
    connections: figure('connections', 10, 200),
    totalConnections: figure('total', 1000, 9000),
    failedConnections: figure('failed', 0, 5),
    requestsPerSecond: figure('requests', 500, 5000),
    ingressBytesPerSecond: figure('ingress', 100_000, 1_000_000),
    egressBytesPerSecond: figure('egress', 100_000, 4_000_000),
    latencyMicros: figure('latency', 150, 900),
    cpuShare: figure('cpu', 5, 60) / 100,
  }
}
