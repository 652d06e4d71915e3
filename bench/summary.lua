-- For wrk: the end of a run as one line of JSON.
function done(summary, latency, _)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"us":%d,"refused":%d,"broken":%d,"p50_us":%d,"p99_us":%d,"max_us":%d}\n',
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99), latency.max))
end
