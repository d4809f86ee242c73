# English. Grammar: https://projectfluent.org/fluent/guide
#
# Arguments are formatted already, except counts, which select plural forms; `none` is an absent argument.


### Numbers and units: number-

number-language = English
number-decimal-separator = .
# Between a number and its unit or a percent sign.
number-gap = {" "}
number-microseconds = µs
number-milliseconds = ms
number-seconds = s
number-minutes = min
number-hours = h
number-bytes = B
number-kibibytes = KiB
number-mebibytes = MiB
number-gibibytes = GiB
number-tebibytes = TiB
# Suffixes without a gap: a rate, a thousand and a million.
number-per-second = /s
number-thousand = k
number-million = M
# Suffixes of the parts of an exact duration, and the text between the parts.
number-days-part = d
number-hours-part = h
number-minutes-part = m
number-seconds-part = s
number-between-parts = {""}
# Texts before the lower and before the upper end of a range.
number-range-from = {""}
number-range-to = {" "}to{" "}


### Summary of a benchmark: bench-

# Labels, at most 23 columns; `bench-count`, `bench-mean` and `bench-max` at most 8, labels before a script's number at
# most 20.
bench-count = count
bench-mean = mean
bench-max = max
bench-response-time = response time, ms
bench-service-time = service time, ms
bench-script-response = response, ms, script
bench-script-service = service, ms, script
bench-script-statements = statements, ms, script
bench-connecting = connect, ms
bench-backlog-wait = wait for a client, ms
bench-send-lag = send lag, us
bench-timer-jitter = host timer jitter, us
bench-failures = failures
bench-effect = effect
bench-dropped = dropped
bench-clients = per client
bench-generator = generator
bench-thread = thread { $number }
bench-thread-counters = busy { $busy }, { $wakeups } wake-ups, longest stall { $stall }
bench-thread-kernel = { $voluntary } voluntary and { $involuntary } involuntary context switches, { $minor } minor and { $major } major page faults
bench-measured = measured
bench-objective = objective
bench-verdict = verdict
bench-note = note
bench-valid = valid
bench-no-trusted-certificates = cannot find a file with this system's trusted CA certificates
bench-stopped-early = stopped before the run began
bench-invalid = INVALID

# Effects of failed transactions.
bench-effect-none = none
bench-effect-unknown = unknown: connection broke
bench-effect-refused = not connected

bench-never-sent = { $dropped } of { $arrivals } arrivals were never sent ({ $share })
bench-fairness = min { $min_transactions }, median { $median }, max { $max_transactions } transactions; Jain's index { $jain }
    .requests = min { $min_transactions }, median { $median }, max { $max_transactions } requests; Jain's index { $jain }
bench-cpu-cost = { $user } us user + { $system } us system per transaction, { $spun } us of it spinning; busiest thread { $busiest } busy
    .requests = { $user } us user + { $system } us system per request, { $spun } us of it spinning; busiest thread { $busiest } busy
bench-measured-postgres = PostgreSQL { $version }{ $origin ->
    [none] {""}
   *[other] {" "}from { $origin }
 }, { $transport } { $address }, database { $database }
bench-measured-http = { $version }, HTTP/1.1 over { $transport } { $address }
bench-measured-how = { $server }; { $model }; driver { $driver }; seed { $seed }
bench-unix-socket = Unix socket
bench-tls = TCP with TLS { $version }
bench-closed-model = closed model
bench-closed-model-thinking = closed model, think time { $time }
bench-open-model-even = open model, { $schedule }, even arrivals
bench-open-model-poisson = open model, { $schedule }, Poisson arrivals
bench-slack = { $model }, slack { $time } (sends and receives up to this much later)
bench-replay = replay of { $recording }, speed { $speed }

# Preview of a schedule.
bench-arrivals-per-second = arrivals/s
bench-preview = { $arrivals ->
    [none] about { $expected ->
        [one] { $expected } arrival
       *[other] { $expected } arrivals
     }
    [one] { $arrivals } arrival
   *[other] { $arrivals } arrivals
 } in { $duration }, { $spacing }, at { $rates }
bench-spacing-even = evenly spaced
bench-spacing-poisson = Poisson with seed { $seed } ({ $expected } expected)
bench-rates = { $lowest } to { $highest }

# Verdicts.
bench-valid-with-doubts = valid with doubts: { $doubt }

# Reasons why a measurement does not count.
bench-late = the generator was late: send lag was { $lag } at { $quantile }; { $jitter ->
    [none] this host's timer jitter is not known
   *[other] this host's timer jitter was { $jitter }
 }
bench-saturated = the generator was saturated: thread { $thread } was busy { $busy } of the time; use more threads (-j) or less load
bench-exhausted = { $connections ->
    [one] { $connections } connection
   *[other] { $connections } connections
 } could not be opened: file descriptors or local ports ran out; raise ulimit -n or net.ipv4.ip_local_port_range
bench-suspended = the machine was suspended for { $duration }
bench-throttled = the generator was throttled by its own CPU limit in { $share } of the quota's periods
bench-stalled = thread { $thread } of the generator stalled for { $duration }
bench-aborted = { $clients } of { $total } clients aborted because their script could not continue; the load was smaller than planned
bench-no-success = no transaction succeeded{ $failure ->
    [none] {""}
   *[other] : { $failure }
 }
    .requests = no request succeeded{ $failure ->
        [none] {""}
       *[other] : { $failure }
     }

# Doubts about a measurement.
bench-host-late = noisy host: send lag was { $lag } at { $quantile }, timer jitter { $jitter }, and response times include this
bench-stolen = noisy host: the hypervisor stole { $processors } CPUs of this machine
bench-starved = thread { $thread } of the generator waited for a CPU { $share } of the time, and response times include this
bench-cap-reached = the in-flight cap ({ $clients }) was reached: of { $arrivals } arrivals { $waited } waited for a client and { $dropped } were dropped, so the test was no longer open-loop
bench-behind-schedule = the system was behind the recorded schedule: of { $arrivals } requests { $waited } waited for the previous request of their session (p99 { $wait }), and { $dropped } were not sent
bench-results-differ = results differ from the recorded ones: { $differing } of { $results } ({ $share })
bench-mix-differs = the mix is not that of the recording: { $operation } has a share of { $measured } instead of { $recorded }; a longer load, or fewer clients, comes nearer to it
bench-uneven = clients were served unevenly: from { $min_transactions } to { $max_transactions } transactions per client (Jain's index { $jain }); the mean hides the clients that waited
    .requests = clients were served unevenly: from { $min_transactions } to { $max_transactions } requests per client (Jain's index { $jain }); the mean hides the clients that waited
bench-outage = no transaction succeeded for { $duration } (from { $from } to { $to })
    .requests = no request succeeded for { $duration } (from { $from } to { $to })
bench-outages = no transaction succeeded for { $duration } in total, in { $count } outages, the longest from { $from } to { $to }
    .requests = no request succeeded for { $duration } in total, in { $count } outages, the longest from { $from } to { $to }
bench-feed-exhausted = the load ended after { $at } instead of { $planned }: a feed with `order: once` has only { $rows ->
    [one] { $rows } row
   *[other] { $rows } rows
 }
bench-node-not-used = the load did not pass through { $node }
bench-log-incomplete = the transaction log is incomplete, because a file of it could not be written
bench-no-rows = { $statement ->
    [none] combined statements
   *[other] { $statement }
 } found no row in { $share } of { $count } executions{ $second ->
    [none] {""}
   *[other] , from second { $second } on
 } (script { $script }, command { $command }){ $others ->
    [0] {""}
    [one] ; { $others } other statement found none either
   *[other] ; { $others } other statements found none either
 }; check that the keys exist and that the tables are not empty
bench-few-samples = { $count ->
    [one] { $count } transaction is
   *[other] { $count } transactions are
 } too few for p99 (1000 are needed); run longer
bench-small-answers = { $share } of the HTTP responses have about { $small }, other responses to the same request { $large }; check whether the small ones are error or login pages
bench-address-changed = "{ $name }" now resolves to { $now }; the whole run used { $used }
note-name-moved = "{ $name }" now resolves to { $address }; new connections use this address
bench-script-open = could not open file "{ $name }": { $error }
    .help = name a file that can be read, or - for standard input
bench-script-read = could not read file "{ $name }": { $error }
    .help = name a file that can be read, or - for standard input
bench-script-size = file "{ $name }" is longer than { $max } MiB
    .help = draw rows from a table instead
bench-variable-not-utf8 = the environment variable { $name } is not UTF-8
    .help = set it to UTF-8 text, or remove it:  unset { $name }
bench-file-irregular = "{ $path }" is not a regular file and is ignored
bench-file-access = file "{ $path }" has group or world access and is ignored
# Connections, in libpq's words.
bench-on-socket = on socket "{ $path }"
bench-at-host = at "{ $name }" ({ $address }), port { $port }
bench-host-unknown = could not translate host name "{ $host }" to address: { $error }
bench-connection-failed = connection to server { $server } failed: { $error }
bench-connection-timeout = timeout expired: no answer within { $seconds } s
bench-server-unreachable = Is the server running there and accepting connections?
bench-session-read-only = session is read-only
bench-session-read-write = session is not read-only
bench-server-standby = server is in hot standby mode
bench-server-primary = server is not in hot standby mode
bench-clock-stepped = this machine's clock was stepped { $direction ->
    [back] back
   *[forward] forward
 } by { $step }; times in this report are not affected, but times in other programs' logs are


### Language of the output: language-

language-unknown = unknown language "{ $code }"{ $source ->
    [none] {""}
   *[other] {" "}in { $source }
 }
    .help = write one of { $codes }


### Headings of tables: table-

table-interval = 95 % CI
table-ratio = ratio
table-path = path
table-cell = cell
table-compared-with = vs
table-transport = transport
table-trials = trials


### Stop rules and objectives: stop-

stop-fired = { $rule } stopped the load after second { $second }; its condition has held since second { $cause_second }, at { $rate } transactions per second
    .requests = { $rule } stopped the load after second { $second }; its condition has held since second { $cause_second }, at { $rate } requests per second
stop-never-measured = the stop rule { $rule } was never evaluated: no node with this name has this series

stop-tank-mask = `{ $mask }` matches every code except 0 here, as in Yandex.Tank's manual. Since June 2024, Yandex.Tank compares whole codes and matches only codes of { $length } characters
stop-tank-quantile = Yandex.Tank does not compute quantile { $percent }, so this rule would never fire there; it computes 25, 50, 75, 80, 90, 95, 98, 99 and 100
stop-tank-failed-times = only successful transactions have a response time here; Yandex.Tank includes failed ones
stop-tank-rounded = Yandex.Tank rounds { $limit } ms to a histogram bin; pgdyno is exact to 0.1 %
stop-tank-mean = pgdyno averages the percentages of the seconds that have responses; Yandex.Tank counts a second without responses as 1 %, and its newest versions divide the sums over the window
stop-tank-missing = pgdyno ignores a second without a sample; Yandex.Tank counts it as 0
stop-tank-instances = pgdyno relates the share to the number of clients; with Pandora, Yandex.Tank requires `startup: once` for such a rule
stop-tank-unknown-rule = Yandex.Tank does not know this rule

stop-objective-met = met: { $objective }: { $measured }
stop-objective-violated = VIOLATED: { $objective }: { $measured }
stop-objective-unanswered = not judged: { $objective }: { $measured }, but no transaction was answered at the end of the load
    .requests = not judged: { $objective }: { $measured }, but no request was answered at the end of the load
stop-objective-ended-early = not judged: { $objective }: { $measured }, but the load ended early
stop-objective-not-measured = not judged: { $objective }: { $reason }
stop-too-few-samples = { $samples } are too few; run longer
# `nearest` is the highest quantile that can be measured, with its value.
stop-quantile-not-measurable = { $quantile } needs { $needed } samples, { $count } measured{ $nearest ->
    [none] {""}
   *[other] ; { $nearest }
 }
stop-lower-quantile = a lower quantile already exceeds the bound
stop-measured = { $value } of { $samples }
stop-samples = { $count ->
    [one] { $count } sample
   *[other] { $count } samples
 }
stop-arrivals = { $count } arrivals
stop-writes = { $count ->
    [one] { $count } write
   *[other] { $count } writes
 }
stop-transactions = { $count } transactions
    .requests = { $count } requests

stop-met = met
stop-violated = VIOLATED
stop-unknown = not judged
# Of the first verdict in a list; the others are `stop-trials-next`.
stop-trials-first = { $verdict } in { $trials ->
    [one] { $trials } trial
   *[other] { $trials } trials
 }
stop-trials-next = { $verdict } in { $trials }
stop-summary = { $objective }: { $verdicts }
stop-summary-worst = { $objective }: { $verdicts }; worst{ $cell ->
    [none] {""}
   *[other] {" "}in { $cell }
 }: { $figure }
stop-summary-none = { $objective }: no trial was measured
stop-summary-not-measured = { $objective }: { $verdicts }: { $reason }


### Feeds: feed-

feed-unreadable = it cannot be read: { $error }
feed-query-failed = the query of feed { $feed } failed: { $error }
feed-empty = no rows; write at least one
feed-header = its first line contains column names ({ $columns }) and would be used as a row
feed-invalid = { $line ->
    [none] {""}
   *[other] line { $line }:{" "}
 }{ $found }
feed-long-row = a row is longer than { $mebibytes } MiB; a quote may be open
feed-long-field = a field is 4 GiB or longer
feed-large = the packed rows take more than { $gibibytes } GiB; use part of the feed, or an uncompressed CSV file without quotes, which is not packed
feed-column-without-name = a column has no name
feed-column-twice = the column "{ $name }" is named twice
feed-many-columns = { $columns } columns, but a feed has at most { $max }; remove columns that no operation draws
feed-nul = the column "{ $name }" contains a NUL byte, which PostgreSQL text cannot contain; remove it
feed-no-requests = no requests; write at least one
feed-body-length = "{ $found }" is not a body length; write the number of bytes, at most { $max }
feed-short-body = the feed ends before the { $length } bytes of this body
feed-header-line = "{ $found }" is not a header; write one such as [Accept: */*]
feed-many-headers = header number { $number }, but a request has at most { $max }
feed-request-without-end = the request after this line has no empty line after its headers
feed-request-header = the request after this line has a malformed header "{ $found }"
feed-log-no-variable = the format contains no variable
    .help = copy `log_format` of nginx, `LogFormat` of Apache or `log-format` of HAProxy
feed-log-no-method = the format contains no method of a request
    .help = add `$request` or `$request_method` (nginx), `%r` or `%m` (Apache), `%r` or `%HM` (HAProxy) to the format of the server; without it, pgdyno cannot recognize requests with a body
feed-log-no-target = the format contains no path of a request
    .help = add `$request` or `$request_uri` (nginx), `%r` or `%U%q` (Apache), `%r` or `%HU` (HAProxy) to the format of the server
feed-log-open-quote = the format has a quote without its end
    .help = copy the whole directive
feed-log-open-brace = the format has a brace without its end
    .help = write a variable such as {"`%{User-Agent}i`"}
feed-log-time-pattern = `{ $unknown }` in `{ $variable }` is not supported
    .help = use `%t`, or parts of a time such as `%Y`, `%m`, `%d`, `%H`, `%M`, `%S`, `%z` and `%s`
feed-log-adjacent = nothing separates `{ $first }` from `{ $second }`
    .help = write a text between them, such as a blank
feed-log-prefix = the line begins with `{ $found }`, but the format with `{ $expected }`
feed-log-separator = `{ $expected }` does not follow { $field }, which begins at byte { $column }: `{ $found }`
feed-log-value = { $field } cannot have the value at byte { $column }: `{ $found }`
feed-log-rest = the line continues after the format at byte { $column }: `{ $found }`
feed-log-no-request = "{ $found }" contains no request in quotes; write `log_format` if the log has another format
feed-log-misfits = { $found }; { $misfits } of { $lines } lines do not fit the format of the log
feed-skipped-lines = { $lines ->
    [one] { $lines } line of the log is not sent
   *[other] { $lines } lines of the log are not sent
 }: { $with_body } with a method that usually has a body, { $without_request } without a valid request, { $misfits } that do not fit the format{ $first ->
    [none] {""}
   *[other] {" "}(first: { $first })
 }
feed-method = "{ $found }" is not a method
feed-target = "{ $found }" is not a target; write a path such as /books?page=1
feed-header-return = a header has a carriage return inside its value
feed-empty-line = empty line; remove it
feed-field-count = "{ $found }" has { $fields ->
    [one] { $fields } field
   *[other] { $fields } fields
}, but the number of columns is { $columns }
feed-no-object = "{ $found }" is not an object; write one such as {"{"}"id": 1{"}"}
feed-no-member = the object has no member "{ $name }"
feed-file = { $path }: { $error }
feed-file-unreadable = could not read { $path }: { $error }
feed-without-rows = feed { $feed } has no rows
feed-not-stored = cannot write the rows of a feed to { $path }: { $error }
feed-query-column-twice = feeds.{ $feed }.sql: the query returns two columns "{ $name }"
    .help = give each column its own name, such as SELECT a.id AS a_id, b.id AS b_id
feed-query-no-column = feeds.{ $feed }.columns: the query returns no column "{ $name }"; it returns { $columns }
    .help = use the column names of the query, or rename a column with AS { $name }
feed-coverage = the feed { $feed } has { $rows } rows, { $distinct } of them distinct{ $repeats_after ->
    [none] {""}
   *[other] ; rows repeat after { $repeats_after } draws
 }{ $share ->
    [none] {""}
   *[other] ; its values match { $share } of the rows of { $column }, which occupy about { $touched } of { $bytes }
 }{ $memory ->
    [none] {""}
   *[other] ; these pages fit in the { $memory } that the server may use, but the whole table does not, so the run measures only the cache; use a feed with more rows
 }


### Command check: check-

check-file-too-long = it is longer than { $mebibytes } MiB; move rows of data to the file of a feed
check-file-not-utf8 = it is not UTF-8 from byte { $byte } on; save it as UTF-8
check-unreadable = cannot read { $path }: { $error }
check-error = error
check-help = help
check-errors = { $count ->
    [one] { $count } error
   *[other] { $count } errors
 }; nothing was started

# Labels of at most 9 columns.
check-stack = stack
check-mix = mix
check-start = on start
check-data = data
check-data-dropped = the database of the attached server is dropped and created again before { $keep ->
    [true] the first trial
   *[false] each trial
 }
check-hooks = hooks
check-fsync-off = `fsync` is off, so the durability of writes cannot be proven: a crash of the operating system may lose any write
check-hook-missing = the program { $program } of a hook or a fault does not exist on this machine
check-shared-hosts = hosts
check-feeds = feeds
check-load = load
check-ledger = ledger
check-invariants = invariant
check-faults = faults
check-goal = find
check-matrix = matrix
check-control = control
check-baseline = baseline
check-time = time
check-seed = seed
check-note = note

check-statements-accepted = The server accepts all statements.
check-statements-unchecked = The statements were not checked, because the server could not be reached.
check-operations-succeeded = Executed once, without errors: { $names }.
check-operations-unanswered = No answer to: { $names }.
check-operations-not-executed = Not executed, because the effects would remain: { $names }. To execute them:  pgdyno try FILE
check-replay-excluded = Not checked: the statements of the recording, which are only sent in their sessions.
check-operations-excluded = Not checked, because of `preflight: false`: { $names }.
check-many-clients = { $clients } clients, but stack.{ $key } leaves { $limit } connections to them: the others are refused; raise it, or use fewer clients
check-search-without-objectives = the search has no objectives, so it accepts any response time; add some, as in  objectives: [ "p99 < 100ms" ]
check-few-repeats = repeat: { $repeat } cannot show a difference between cells: the test needs at least { $least } trials of each; write  repeat: 5
check-cells = { $count ->
    [one] { $count } cell
   *[other] { $count } cells
 }
check-clients = clients
check-attached = { $name } (attached)
check-stats = statistics at { $pages }
check-metrics = host metrics at { $urls }
check-connections = { $count ->
    [one] { $count } connection
   *[other] { $count } connections
 }
check-pool-size = pool size { $size }
check-replicas = { $count ->
    [one] { $count } replica
   *[other] { $count } replicas
 }
check-programs = programs: { $programs }
check-files = files: { $files }
check-copies = { $count ->
    [one] { $count } copy
   *[other] { $count } copies
 }
check-limit-cpu = { $count } CPU
check-limit-memory = memory { $bytes }
check-limit-reads = { $rate } reads/s
check-limit-writes = { $rate } writes/s
check-limit-read-bytes = read { $bytes }/s
check-limit-write-bytes = write { $bytes }/s
check-limit-cpu-list = on CPU { $list }

check-operation = { $name }, { $share }: { $request }{ $feed ->
    [none] {""}
   *[other] , feed { $feed }
 }
check-on-start = { $request }{ $feed ->
    [none] {""}
   *[other] , feed { $feed }
 }
check-pause = after { $pause } { $request }
check-script = script { $path }
check-ammo = requests of feed { $feed }
check-tagged-ammo = { $tag ->
    [none] other requests of feed { $feed }
   *[other] { $tag }, feed { $feed }
 }
check-then = {", then "}
check-redirects = { $count ->
    [one] follows { $count } redirect
   *[other] follows up to { $count } redirects
 }
check-headers = headers { $names }
check-expect = expects { $list }
check-status = status { $ranges }
check-without = not { $text }
check-decompress = decompressed
check-capture = { $name } from { $source }
check-capture-header = { $name } from header { $header }
check-feed = { $name }: { $source }, { $order }{ $column ->
    [none] {""}
   *[other] , for { $column }
 }
check-requests = { $format } requests
check-access-log = access log
check-query = query
check-rows = { $count ->
    [one] { $count } row
   *[other] { $count } rows
 }

check-closed = closed-loop
check-open = open-loop
check-load-clients = { $count ->
    [one] { $count } client
   *[other] { $count } clients
 }
check-users = { $count ->
    [one] { $count } user
   *[other] { $count } users
 }{ $rate ->
    [none] {""}
   *[other] {" "}at { $rate }/s
 }{ $duration ->
    [none] {""}
   *[other] {" "}for { $duration }
 }
check-think = think time { $time }
check-think-exponential = think time exponential with mean { $mean }
check-think-log-normal = think time log-normal with median { $median } and σ { $sigma }
check-pacing = one iteration per { $interval }
check-rate-max = at most { $rate }/s
check-even = evenly spaced arrivals
check-poisson = Poisson arrivals
check-in-flight-cap = at most { $cap } in flight
check-duration = { $duration }{ $warmup ->
    [none] {""}
   *[other] {" "}after { $warmup } of warm-up
 }
check-warmup = after { $warmup } of warm-up
check-query-mode = query mode { $mode }
check-slack = slack { $time }
check-reconnect = a new connection per transaction
    .requests = a new connection per request
check-cookies = with cookies

check-goal-max = highest { $scale ->
    [clients] number of clients
   *[rate] rate
 } that meets the objectives, to within { $precision }{ $from ->
    [none] {""}
   *[other] , from { $from }
 }{ $limit ->
    [none] {""}
   *[other] {" "}up to { $limit }
 }, in trials of { $window }, then held for { $hold }{ $prove ->
    [true] ; its limiter is tested by changing settings
   *[false] {""}
 }
check-goal-share = { $share } of the maximum
check-goal-confirm = { $level } reached within { $ramp } and held for { $hold }
check-goal-soak = { $level } held for { $duration }
check-goal-sweep = which cells of the matrix meet the objectives
check-goal-failover = whether every acknowledged write survives the faults

check-fault-run = run `{ $command }`; another server must accept writes within { $within }
check-fault-external = wait for a failover that you cause; another server must accept writes within { $within }
check-fault-at = at { $time }: { $action }
# `event` is a keyword of the experiment file.
check-fault-after = { $delay ->
    [none] after { $event }
   *[other] { $delay } after { $event }
 }: { $action }
check-fault-kill = kill { $node }
check-fault-kill-postmaster = kill the postmaster of { $node }
check-fault-kill-manager = kill { $manager } on { $node }
check-fault-pause = pause { $node } for { $duration }
check-fault-restart = restart { $node }
check-fault-switchover = switch over to { $node ->
    [none] any replica
   *[other] { $node }
 }
check-fault-isolate = isolate { $node } from the network for { $duration }
check-fault-separate = isolate { $node } from the other servers for { $duration }
check-fault-separate-nodes = isolate { $node } from { $peers } for { $duration }
check-fault-freeze-disk = freeze the disk of { $node } for { $duration }
check-fault-shift-clock =
    set the clock of { $node } { $direction ->
        [back] back
       *[forward] forward
    } by { $by } for { $duration }
check-fault-fill-disk = fill the disk of { $node } for { $duration }
check-fault-block-replication = block replication { $duration ->
    [none] until another server is promoted
   *[other] for { $duration }
 }

check-trials = { $cells ->
    [one] { $cells } cell
   *[other] { $cells } cells
 }{ $controls ->
    [0] {""}
    [one] {" "}({ $controls } is a positive control)
   *[other] {" "}({ $controls } are positive controls)
 } × { $repeat } = { $trials ->
    [one] { $trials } trial
   *[other] { $trials } trials
 }
check-searches = { $cells ->
    [one] { $cells } cell
   *[other] { $cells } cells
 }{ $controls ->
    [0] {""}
    [one] {" "}({ $controls } is a positive control)
   *[other] {" "}({ $controls } are positive controls)
 } × { $repeat } = { $searches ->
    [one] { $searches } search
   *[other] { $searches } searches
 }
check-no-guarantee = without a durability guarantee; { $faults }
check-time-of-search = depends on the number of trials that the search needs
check-time-under-load = { $duration } under load, plus setup


### Command judge: judge-

judge-conclusion = { $name }: { $conclusion }
judge-counts = { $acknowledged ->
    [one] { $acknowledged } write acknowledged
   *[other] { $acknowledged } writes acknowledged
 }, { $warned } with a warning, { $failed } refused, { $unknown } with an unknown outcome, { $unresolved } possibly sent
judge-server = server { $address }, timeline { $timeline }
# `examples`: session/sequence of the first writes.
judge-anomaly = { $anomaly }: { $count } ({ $meaning }){ $examples ->
    [none] {""}
   *[other] {": "}{ $examples }
 }
judge-line = { $text ->
    [none] this line ends too early
   *[other] { $text } is not part of a history
 }
    .help = write { $usage }
judge-notation-event = {"`TIME settings|role|write|fault|promote|read|value …`"}
judge-notation-control = {"`control LOST|none`"}
judge-notation-ledger = {"`ledger closed|open|torn`"}
judge-notation-level = {"`off|local|remote_write|on|remote_apply`"}
judge-notation-settings = {"`TIME settings SERVER LEVEL [SYNCHRONOUS_STANDBY_NAMES]`"}
judge-notation-role = {"`TIME role SERVER primary|standby [fsync=off]`"}
judge-notation-write = {"`FROM-TO write SESSION/SEQUENCE acknowledged|warned|failed|unknown [SQLSTATE] [SERVER]`"}
judge-notation-fault = {"`TIME fault [failover] [host]`"}
judge-notation-promote = {"`TIME promote NAME [SYNCHRONOUS_STANDBY_NAMES]: NAME=POSITION [sync], …`"}
judge-notation-read = {"`TIME read SERVER primary|standby [KEYS]`"}
judge-notation-value = {"`TIME value SERVER RESULT`"}
judge-notation-server = {"`[SYSTEM:]NAME@TIMELINE[+RESTARTS]`"}
judge-notation-expect = {"`expect kept|broken|not_proven[: ANOMALY COUNT, …]`"}
judge-notation-reason = {"`because REASON, …`"}
judge-notation-standbys = {"`ANY 1 (b, c)`"}
judge-notation-anomaly = {"`lost 1`"}
judge-notation-time = {"`12|12.5|12-13`"}
judge-notation-key = {"`SESSION/SEQUENCE`"}
judge-notation-keys = {"`0/0 0/2-9 0/10x2 0/11! [1/0 1/1]`"}
judge-notation-outcome = {"`acknowledged|warned|failed|unknown`"}
judge-unexpected = the verdict differs from the expected one: { $expected } was expected, { $actual } was judged


### Command doctor: doctor-

doctor-servers = PostgreSQL servers
doctor-server-installed = { $version }, installed: { $path }
doctor-server-downloaded = { $version }, downloaded: { $path }
# Labels of at most 13 columns.
doctor-not-usable = not usable
doctor-report-written = wrote { $path }; answer its questions and attach it to your report
doctor-none = none
doctor-user = server user
doctor-data = data
doctor-system = system
doctor-cpus = CPUs
doctor-memory = memory
doctor-files = open files
doctor-ports = local ports
doctor-clock = clock source
doctor-frequency = frequency
doctor-limits = limits
doctor-jitter = timer jitter

doctor-download = PostgreSQL { $first } to { $last } can be unpacked from an archive if not installed; see PGDYNO_POSTGRES_MIRROR
doctor-features = Features of experiments
doctor-missing = lacks { $missing }
doctor-missing-program = the program { $name } of PostgreSQL
doctor-missing-package = the program { $name } (package { $package })
doctor-missing-library = the extension { $name } of PostgreSQL
doctor-missing-namespaces = the permission to create namespaces, which root has ({ $error })
doctor-current-user = the current user
doctor-data-directory = { $path }, { $room } free
doctor-programs = Other programs
doctor-version-unknown = version unknown
doctor-not-found = not found
doctor-machine = This machine
doctor-unknown = unknown
doctor-kernel = { $system }, kernel { $kernel }
doctor-unlimited = unlimited
doctor-file-limit = { $now }, can be raised to { $most }
doctor-port-range = { $first } to { $last }: { $count ->
    [one] { $count } connection
   *[other] { $count } connections
 } to one TCP address
doctor-available = available
doctor-not-available = not available
doctor-no-governor = no governor (usual in virtual machines)
doctor-governor = governor { $name }
doctor-no-controllers = no controllers
doctor-no-limits = none can be applied
doctor-limits-not-applied = not { $limits }: { $reason }
doctor-jitter-values = p50 { $p50 }, p99 { $p99 }, max { $max }; { $count } wake-ups, one per ms
doctor-jitter-note = transactions cannot start more precisely than the timers of this machine fire

# What a missing item is needed for, and how to get it.
doctor-needed-for = needed for { $purpose }{ $remedy ->
    [none] {""}
   *[other] : { $remedy }
 }
doctor-purpose-server = temporary servers and the demo
doctor-purpose-pgbench = comparing pgdyno with pgbench on this machine
doctor-purpose-pooler = a pooler in front of the server
doctor-purpose-balancer = a load balancer in front of several servers
doctor-purpose-manager = automatic failover from the primary to a replica
doctor-purpose-node = a node of a stack
doctor-purpose-replicas = replicas that pgdyno starts
doctor-purpose-networks = the fault `isolate`, and clusters of a failover manager
doctor-purpose-disks = the faults `fill_disk` and `freeze_disk`
doctor-purpose-clocks = the fault `shift_clock`
doctor-purpose-statements = times of the statements that poolers and services send
doctor-purpose-indexes = index advice that is checked without building the index
doctor-purpose-cpu = a generator that does not compete with the server for CPU
doctor-remedy-cpu = a second CPU
doctor-purpose-files = more connections per process
doctor-purpose-driver = a driver that uses less CPU
doctor-purpose-clock = reading the clock in 20 ns, without a system call
doctor-remedy-clock = clock source tsc
doctor-purpose-frequency = steadier response times at low load
doctor-purpose-limits = these limits on the nodes of a stack
doctor-remedy-disk = TMPDIR on a disk
doctor-remedy-cgroup = root or a delegated cgroup


### Command runs: runs-

runs-none = no runs in { $directory }
runs-selected = { $text } is { $run }{ $started ->
    [none] {""}
   *[other] , started { $started }
 }
runs-unknown = there is no run "{ $text }" in { $directory }
runs-unknown-hint = the runs, the newest first: { $candidates }
runs-ambiguous = "{ $text }" is ambiguous; it matches { $candidates }
runs-ambiguous-hint = write more of the name
runs-candidates = { $names }{ $more ->
    [0] {""}
   *[other] {" "}and { $more } more
 }
# Column headings.
runs-column-name = NAME
runs-column-time = WHEN (UTC)
runs-column-cells = CELLS
runs-column-trials = TRIALS
runs-column-status = STATUS
runs-column-size = SIZE
runs-column-trial = TRIAL
runs-column-cell = CELL
runs-column-repeat = REPEAT
runs-column-verdict = VERDICT
runs-column-seconds = SECONDS
runs-column-tps = TPS
    .requests = REQUESTS/S
runs-column-p99 = P99
runs-column-errors = ERRORS
runs-column-setting = SETTING
runs-verdict = { $verdict ->
    [valid] valid
    [valid_with_doubts] valid with doubts
   *[invalid] invalid
 }
# `state` is running, complete, interrupted, stopped, failed or skipped.
runs-state = { $state }
runs-empty = empty
runs-no-run = not a run
runs-newer = newer version
runs-unreadable = unreadable

# Labels of at most 10 columns.
runs-name = run
runs-file = file
runs-started = started
runs-status = status
runs-ended = ended
runs-reason = reason
runs-seed = seed
runs-versions = versions
runs-results = results

runs-no-results = not available: { $reason }
runs-trial = trial { $id }
runs-trials = trials { $ids }
runs-note = note: { $note }
runs-removed = removed { $path }
runs-repetition = { $cell }, repeat { $repetition }
runs-not-fired = { $rule } would not have fired
runs-other-version = { $path } was written by another version of pgdyno: { $error }
runs-not-compared = { $error }; the run is not compared
runs-left-out = { $error }; the run is left out
runs-all-unreadable = no run of { $experiment } in { $directory } can be read
runs-rule-error = `{ $rule }`, column { $column }: { $error }


### Command init: init-

init-written = wrote { $path }; edit it, then check it:  pgdyno check { $path }
init-exists = { $path } already exists
init-exists-hint = choose another file name, or remove this file
init-failed = cannot write { $path }: { $error }
init-failover-running = `--find failover` reads the written rows back from PostgreSQL; it cannot be combined with `--http`
init-url = `--http` requires a URL that contains no password, such as http://127.0.0.1:8080/books


### Errors in schedules: schedule-

# `help` says what to write instead. The user's words are in backquotes already.
schedule-fill-in = this value is not filled in
    .help = write a number in place of FILL_IN, as in `const(100, 60s)`
schedule-empty = the schedule is empty
    .help = write a schedule such as `const(100, 60s)`
schedule-unclosed = this parenthesis is not closed
    .help = write `)` after the duration
schedule-junk = { $text } is not part of a schedule
    .help = remove it, or write `line(…)`, `const(…)` or `step(…)`
schedule-unnamed = a parenthesis without a name
    .help = write `line(…)`, `const(…)` or `step(…)`
schedule-instances = `{ $name }` starts instances, but a schedule consists of rates
    .help = write `line(…)`, `const(…)` or `step(…)`
schedule-part = { $name } is not a kind of schedule
    .help = { $nearest ->
        [none] write `line(…)`, `const(…)` or `step(…)`
       *[other] write `{ $nearest }`
    }
schedule-arity = `{ $name }` takes { $arity } values, not { $count }
    .help = write { $name ->
        [const] `const(rate, duration)`
        [line] `line(from, to, duration)`
       *[step] `step(from, to, increment, duration)`
    }
schedule-line-duration = a line needs a duration above 0
    .help = write a duration of at least `1s`
schedule-increment = the increment is 0, so the steps never reach the last rate
    .help = write an increment above 0
schedule-levels = these steps have { $count } levels, and a schedule has at most { $max }
    .help = write a larger increment or fewer steps
schedule-total = the schedule lasts { $days } days up to here, and the maximum is { $max }
    .help = write shorter durations
schedule-rate-missing = a rate is missing
    .help = write a number such as `10` or `0.5`
schedule-rate-negative = the rate { $text } is negative
    .help = write a rate of 0 or more
schedule-rate = { $text } is not a rate
    .help = write a number such as `10` or `0.5`; it is a rate per second
schedule-decimals = { $text } has more than six decimals
    .help = write at most six
schedule-rate-max = the rate { $text } is too high for one machine
    .help = write at most { $max } per second
schedule-duration-missing = a duration is missing
    .help = write a duration such as `90s` or `1h30m`
schedule-duration-max = { $text } is more than { $max } days
    .help = write a shorter duration
schedule-duration-fraction = { $text } is not a whole number of seconds
    .help = { $below ->
        [none] write `{ $above }s`
       *[other] write `{ $below }s` or `{ $above }s`
    }
schedule-duration = { $text } is not a duration
    .help = write whole days, hours, minutes and seconds in this order, such as `1h30m` or `90s`


### Errors in stop rules, objectives and conditions: rule-, objective-, condition-

# `help` says what to write instead. The user's words are in backquotes already; `text` is `none` where something is
# missing. `form` is the syntax of the rule.
rule-unknown = { $text ->
    [none] a stop rule is missing
   *[other] { $text } is not a stop rule
 }
    .help = write a rule such as `net(xx,25,10)`; the rules are { $names }
rule-not-in-tank = the rule { $name } is not implemented, neither here nor in Yandex.Tank
    .help = write another rule, such as `quantile(99, 1s, 10)`
rule-unclosed = the parenthesis of the stop rule is not closed
    .help = write `)`; usage: `{ $form }`
rule-trailing = { $text } follows a complete stop rule
    .help = write each rule as an item of its own
rule-surplus = the stop rule has one argument too many: { $text }
    .help = remove it; usage: `{ $form }`
rule-operation = { $text ->
    [none] the name of an operation is missing
   *[other] unknown operation { $text }
 }
    .help = the operations are: { $names }
rule-time = { $text ->
    [none] a time is missing
   *[other] { $text } is not a time
 }
    .help = write a time such as `200ms` or `1s500ms`; usage: `{ $form }`
rule-seconds = { $text ->
    [none] a number of seconds is missing
   *[other] { $text } is not a number of whole seconds above 0
 }
    .help = write whole seconds, such as `10` or `1m`; usage: `{ $form }`
rule-level = { $text ->
    [none] a count or a percentage is missing
   *[other] { $text } is neither a count nor a percentage
 }
    .help = write a whole number from 1, or a percentage from above `0%` to `100%`; usage: `{ $form }`
rule-percent = `{ $count }` is not a percentage
    .help = write `{ $count }%`
rule-number = { $text ->
    [none] a number is missing
   *[other] { $text } is not a number
 }
    .help = write a number such as `90` or `0.5`; usage: `{ $form }`
rule-mask-http = { $text ->
    [none] a mask of HTTP statuses is missing
   *[other] { $text } is not a mask of HTTP statuses
 }
    .help = write a status, with `x` for any digit, such as `5xx`; usage: `{ $form }`
rule-mask-net = { $text ->
    [none] a mask of network errors is missing
   *[other] { $text } is not a mask of network errors
 }
    .help = write an errno, with `x` for any digit, such as `110`, `11x` or `xx`; usage: `{ $form }`
rule-mask-sql = { $text ->
    [none] a mask of SQLSTATEs is missing
   *[other] { $text } is not a mask of SQLSTATEs
 }
    .help = write a SQLSTATE of five characters, with `x` for any, such as `53xxx`; usage: `{ $form }`
rule-quantile = { $text ->
    [none] a quantile is missing
   *[other] { $text } is not a quantile
 }
    .help = write a quantile in percent, such as `99` or `99.9`; usage: `{ $form }`
rule-node = the name of a node is missing
    .help = write a name, or `*` for any node; usage: `{ $form }`
rule-metric = the name of a series is missing
    .help = write a name such as `pg_backends`; `docs/probes.md` lists all series; usage: `{ $form }`
rule-series = no probe writes the series { $name }
    .help = { $similar ->
        [none] write a name such as `pg_backends`; `docs/probes.md` lists all series
       *[other] write { $similar }
    }
objective-form = { $text ->
    [none] an objective is missing
   *[other] { $text } is not an objective
 }
    .help = write an objective such as `p99 < 200ms`
objective-metric = { $text ->
    [none] the name of a metric is missing
   *[other] unknown metric { $text }
 }
    .help = write one of { $names }
objective-time = { $text ->
    [none] a time is missing
   *[other] { $text } is not a time
 }
    .help = write a time with its unit, such as `200ms` or `1.5s`
objective-share = { $text ->
    [none] a percentage is missing
   *[other] { $text } is not a percentage
 }
    .help = write a percentage such as `0.1%`
objective-rate = { $text ->
    [none] a rate is missing
   *[other] { $text } is not a rate
 }
    .help = write transactions per second, such as `500`
objective-count = { $text ->
    [none] a number of writes is missing
   *[other] { $text } is not a number of writes
 }
    .help = write a number, such as `0`
objective-failover = the objective needs faults and an operation with a ledger
    .help = add `faults` and `ledger`, or remove the objective
objective-step = { $names ->
    [none] the steps of the operation are not measured separately, so { $text } cannot be judged
   *[other] the operation has no step { $text }
 }
    .help = { $names ->
        [none] write the objective of the operation, without a step
       *[other] the steps are: { $names }
     }
objective-step-dropped = a step has no dropped arrivals
    .help = write `errors`, or the objective of the operation
objective-relation = an objective cannot limit { $metric } with `{ $sign }`
    .help = { $is_rate ->
        [true] write `>` or `>=`
       *[false] write `<` or `<=`
    }
condition-form = { $text ->
    [none] a condition is missing
   *[other] { $text } is not a condition
 }
    .help = write a condition such as `p99 > +10%`
condition-operation = single operations have no figure `{ $name }`
    .help = write `{ $name }` without an operation
condition-time = { $text ->
    [none] a bound is missing
   *[other] { $text } is neither a time nor a change
 }
    .help = write a change such as `+10%`, or a time such as `200ms`
condition-share = { $text ->
    [none] a bound is missing
   *[other] { $text } is neither a share nor a change
 }
    .help = write a share such as `1%`, or a change such as `+0.5%`
condition-rate = { $text ->
    [none] a bound is missing
   *[other] { $text } is neither a rate nor a change
 }
    .help = write a change such as `-5%`, or a rate such as `500/s`
condition-cpus = { $text ->
    [none] a bound is missing
   *[other] { $text } is neither a number of CPUs nor a change
 }
    .help = write a change such as `+10%`, or a number of CPUs such as `1.5`


### Scripts: script-

# The English errors have pgbench's wording. `help` says what to write instead.
script-found-here = error found here
script-in-command = { $error } in command "{ $command }"
script-count = at most { $max } SQL scripts are allowed
    .help = put several statements into one script, under \if
script-weights = total script weight must not be zero
    .help = give one script a weight, as in script.sql@1
script-variables = too many variables (maximum is { $max })
    .help = use fewer names
script-variable-name = { $command ->
    [none] {""}
   *[other] { $command }:{" "}
 }invalid variable name: "{ $name }"
    .help = use letters, digits and underscores, and begin with no digit
script-zero-byte = zero byte in script
    .help = scripts are text files; remove it
script-not-utf8 = the byte { $byte } is not UTF-8
    .help = only SQL statements may have another encoding; write variables and backslash commands in ASCII
script-empty = { $script ->
    [none] the script has no commands
   *[other] empty command list for script "{ $script }"
 }
    .help = write at least one statement or backslash command
script-condition = condition error in { $script ->
    [none] command { $number }
   *[other] script "{ $script }" command { $number }
 }: { $error ->
    [if] \if without matching \endif
    [elif] \elif without matching \if
    [else] \else without matching \if
    [endif] \endif without matching \if
    [elif-after-else] \elif after \else
   *[else-after-else] \else after \else
 }
    .help = { $error ->
        [if] end this \if with a line \endif
        [elif-after-else] put all \elif before one \else
        [else-after-else] put all \elif before one \else
       *[other] begin with a line \if EXPRESSION
    }
script-parameters = statement has too many arguments (maximum is { $max }): { $text }
    .help = use fewer variables in it, or -M simple
script-invalid-command = invalid command
    .help = the commands are \set \if \elif \else \endif \gset \aset \sleep \shell \setshell \startpipeline \syncpipeline \endpipeline
script-missing-argument = missing argument
    .help = write { $usage }
script-too-many-arguments = too many arguments
    .help = write { $usage }
script-word-count = too many arguments
    .help = a backslash command has at most { $max } words
script-prefixes = too many arguments
    .help = write one prefix for the variables' names, or none
script-unexpected-argument = unexpected argument
    .help = remove "{ $word }"
script-shell-forbidden = shell commands are not allowed
    .help = pass --allow-shell if you trust this script
script-shell-missing = missing command
    .help = write \shell COMMAND
script-store-place = \gset must follow an SQL command
    .help = write it once, instead of the statement's semicolon, as in SELECT 1 AS one \gset
script-sleep-time = invalid sleep time, must be an integer ({ $text })
    .help = write a smaller unit instead of a fraction, as in \sleep 1500 ms
script-sleep-unit = unrecognized time unit, must be us, ms or s ({ $unit })
    .help = write { $usage }
script-undefined = undefined variable "{ $name }"
    .help = { $alternatives ->
        [none] {""}
       *[other] write { $alternatives },{" "}
    }set it before by \set { $name } …, or write ": { $name }" if no variable is meant
script-undefined-warning = { $place }: { $error }; until another script sets it, { $mode ->
    [simple] the statement is sent with the text :name
    [pgbench] it is sent as NULL
   *[extended] a client that reaches the statement aborts
 }

# Expressions.
script-syntax = syntax error
    .help = expected { $expected ->
        [operand] an operand: a number, :variable, function(…), CASE or "("
        [closing] an operator or ")"
        [comma] an operator, "," or ")"
        [arguments] "(" and the function's arguments
        [truth] NULL, TRUE or FALSE after IS
        [when] WHEN (as in CASE WHEN :i = 1 THEN … END)
        [then] an operator or THEN
        [end] an operator, WHEN, ELSE or END
       *[end-of-line] an operator or the end of the line
    }{ $found ->
        [none] , but the line ends here
       *[other] , found "{ $found }"
    }
script-syntax-min-int = syntax error
    .help = write a minus sign right before 9223372036854775808, which is no int without it
script-syntax-equals = syntax error
    .help = write a single = to compare
script-syntax-comparison = syntax error
    .help = comparisons cannot be chained; write a < b AND b < c
script-nesting = expression is nested too deeply (maximum is { $max })
    .help = compute a part of it in a \set of its own
script-depth = expression is too deep (maximum is { $max } operations upon each other)
    .help = compute a part of it in a \set of its own
script-double-overflow = double constant overflow ({ $text })
    .help = a double lies between 2.3e-308 and 1.7e308
script-bigint-overflow = bigint constant overflow ({ $text })
    .help = the greatest int is { $max }; { $text }.0 is a double
script-character = unexpected character ({ $character })
    .help = { $kind ->
        [semicolon] a backslash command ends at the end of its line; remove the semicolon
        [exclamation] write NOT for negation, <> or != for inequality
        [caret] write pow(x, y) for a power
        [quote] expressions support numbers, booleans and null, but not strings
        [colon] write the variable's name right after the colon
        [backslash] a backslash continues the command only at the very end of a line
        [point] write a digit after the point
        [bracket] use ( and ) for grouping
       *[other] the operators are + - * / % = <> < <= > >= | & # ~ << >> AND OR NOT IS
    }
script-fill-in = missing value (FILL_IN)
    .help = write an expression, such as `random(1, 1000)`
script-function = unexpected function name ({ $name })
    .help = { $alike ->
        [none] a variable is written :{ $name }; the functions are { $known }
       *[other] write { $alike }(…) for the function, or :{ $name } for a variable
    }
script-arguments = { $some ->
    [true] at least one argument expected ({ $name })
   *[false] unexpected number of arguments ({ $name })
 }
    .help = write { $calls }

# Requests.
script-step = operation "{ $operation }"{ $step ->
    [none] {""}
   *[other] , step { $step }
 }: { $error }
script-step-method = there is no method "{ $method }"
    .help = write one of { $known }
script-step-target = "{ $target }" is not a path
    .help = write a path such as /books?page=1, with blanks as %20
script-step-variable = a $ in "{ $text }" begins no variable
    .help = write {"${name}"}, or $$ for the sign itself
script-step-secret = the environment has no variable { $name }
    .help = set it before, as in: export { $name }=…
script-step-header = "{ $text }" is not a header
    .help = write it as "Accept: text/html"
script-step-control = the header { $name } contains a line end or another control character
    .help = remove it
script-step-reserved = pgdyno itself sends the header { $name }
    .help = remove it
script-capture-pointer = the capture "{ $name }": { $has_tilde ->
    [true] a ~ in "{ $text }" is followed by neither 0 nor 1
   *[false] "{ $text }" is not a JSON pointer
 }
    .help = { $has_tilde ->
        [true] write ~0 for the sign
       *[false] write one such as /items/0/id
    }
script-capture-regex = the capture "{ $name }": invalid regular expression "{ $text }": { $reason }
    .help = write one such as { $example }
script-step-undefined = operation "{ $operation }": the variable {"${"}{ $name }{"}"} is not defined
    .help = set it, capture it in an earlier step, or draw it from a feed with such a column
script-request-undefined = the variable {"${"}{ $name }{"}"} is not defined
    .help = add -D { $name }=value
script-ammo-column = operation "{ $operation }": the feed has no column "{ $name }", which every request requires
    .help = use a feed in the format uri, uripost, raw or access


### Reasons why a client or the load stops: abort-

# The English texts begin with pgbench's wording. The advice follows after a semicolon.
abort-reason = { $code } { $message }
abort-client = client { $client } aborted: { $reason }
abort-feed-exhausted = feed { $name } is exhausted: each of its rows has been used once
abort-row-count = expected one row, got { $got }
abort-column-name = error storing into variable { $name }
abort-open-transaction = end of script reached without completing the last transaction
abort-open-pipeline = end of script reached with pipeline open
abort-pipeline = \startpipeline within a pipeline, or \endpipeline or \syncpipeline outside of a pipeline
abort-simple-pipeline = cannot use pipeline mode with the simple query protocol
abort-store-in-pipeline = \gset and \aset are not allowed in pipeline mode
abort-copy = COPY is not supported
abort-undefined = undefined variable "{ $name }"; set it first with \set { $name } … or -D { $name }=…
abort-unquotable = variable "{ $name }" is a text within a comment or a dollar-quoted string, where a simple query cannot escape it; write :{ $name } elsewhere, or use query_mode extended
abort-malformed = malformed variable "{ $name }" value: "{ $text }"; an expression needs null, a boolean, an integer or a double
abort-not-integer = invalid input syntax for type bigint: "{ $text }" (variable "{ $name }")
abort-too-large = value "{ $text }" is out of range for type bigint (variable "{ $name }"); add a decimal point to make it a double
abort-variable-name = set: invalid variable name: "{ $name }"; use letters, digits and underscores, and begin with no digit
abort-coercion = cannot coerce { $from } to { $to }; { $advice ->
    [null] test for null first, with IS NULL
    [boolean] compare the value, as in x <> 0
   *[number] write CASE WHEN … THEN 1 ELSE 0 END
 }
abort-double-to-int = double to int overflow for { $value }; an int has 64 bits
abort-overflow = bigint { $operation } out of range; convert an operand with double(…) to get a double
abort-division-by-zero = division by zero; write CASE WHEN divisor <> 0 THEN … END
abort-too-many-arguments = too many function arguments, maximum is { $max }; nest the calls, as in least(least(…), …)
abort-permute-size = permute size parameter must be greater than zero; it is the number of values to permute
abort-sleep-undefined = sleep: undefined variable "{ $name }"; set it first with \set { $name } …
abort-sleep-not-numeric = sleep: invalid sleep time "{ $text }" for variable "{ $name }"; it must begin with an integer
abort-empty-range = empty range given to random; write the lower bound first, as in random(3, 5)
abort-range-too-large = random range is too large; max - min must be less than 9223372036854775807
abort-gaussian = gaussian parameter must be at least { $min } (not { $parameter }); a larger parameter gives a narrower distribution
abort-exponential = exponential parameter must be greater than zero (not { $parameter }); with a larger parameter, values near the minimum are more frequent
abort-zipfian = zipfian parameter must be in range [{ $min }, { $max }] (not { $parameter }); with a larger parameter, the minimum is more frequent
abort-shell-undefined = { $command }: undefined variable ":{ $name }"; set it first with \set { $name } …, or write ::{ $name } for the literal text
abort-shell-launch = could not launch shell command "{ $line }": { $error }
abort-shell-status = shell command "{ $line }" failed: { $status }
abort-shell-no-output = { $command }: could not read result of shell command; it must print an integer
abort-shell-not-integer = { $command }: shell command must return an integer (not "{ $line }")


### Command export: export-

export-no-directory = cannot create directory { $path }: { $error }
export-failed = cannot write { $path }: { $error }
export-incomplete = { $path } is incomplete: { $error }
export-overwrites-run = { $path } is the run itself; the report would destroy it
export-overwrites-run-hint = choose another file for --out, or - for standard output


### Command stack: stack-

stack-is-up = { $name } has been up for { $since }
stack-starting = { $name } has been starting for { $since }: { $activity }
# Labels of at most 13 columns.
stack-file = file
stack-cell = cell
stack-holder = holder
stack-stops-in = stops in
stack-address = address
stack-application = application
stack-superuser = superuser
stack-console = console
stack-statistics = statistics
stack-limits = limits
stack-not-limited = NOT LIMITED
stack-program = program
stack-log = log

stack-process = process { $pid }
stack-running = running{ $pid ->
    [none] {""}
   *[other] , process { $pid }
 }
stack-ended = ENDED: { $reason }
stack-attached = attached: not started by pgdyno, and never stopped by it
stack-process-gone = its process is gone

stack-how-to-stop = Stop it with:  pgdyno stack down { $name }
stack-down = { $name } is down; nothing is left of it
stack-none = no stack is up
stack-silent = the holder process of { $name } does not answer
stack-silent-hint = see { $log }; killing `pgdyno stack hold { $name }` also stops the stack
stack-not-found = no stack of { $which } is up
stack-not-found-hint = pgdyno stack status lists the running stacks; pgdyno stack up FILE starts one
stack-exists = a stack named { $name } is already up
stack-exists-hint = pgdyno stack status { $name } shows it; pgdyno stack down { $name } stops it; --name starts another one
stack-name-invalid = "{ $name }" is not a valid name of a stack
stack-name-hint = use 1 to 64 of a-z, 0-9 and -, such as --name=my-stack
stack-cell-unknown = no cell matches "{ $wanted }"
stack-one-cell = the file has one cell: omit --cell
stack-axis = { $axis } is { $values }
# Between the values of an axis.
stack-or = {" "}or{" "}
stack-holder-failed = cannot start the holder process: { $error }
stack-holder-ended = the holder process ended before the stack was up
stack-passwords-failed = cannot write the password file: { $error }

stack-directory-unusable = cannot use { $path }: { $reason }
stack-directory-hint = remove it, or set XDG_RUNTIME_DIR to a directory that only you can access
stack-no-directory = it is not a directory
stack-other-owner = another user owns it
stack-other-users = other users can access it
stack-lifetime = not a duration
    .help = write a whole number and s, m or h, as in 2h
stack-no-log = it is not a stack log of pgdyno


### Command demo: demo-

demo-begins = Question: how many reports per second over { $rows } rows does a temporary PostgreSQL server sustain?


### Command advise: advise-

advise-attached = the run measured an attached database, and pgdyno never changes such a database
advise-attached-hint = measure a copy: a stack that pgdyno starts, with a dataset
advise-no-index = no index would help the statements of this run
advise-no-dataset = the run has no dataset that could be copied
advise-no-dataset-hint = add a dataset to the experiment file


### Command run: run-

run-no-signals = cannot handle Ctrl-C: { $error }
run-no-stop-requests = cannot watch for stop requests: { $error }
run-end-lost = { $error }; the end of the run is lost
run-end-lost-hint = the part written before can be read:  pgdyno runs show { $path }
run-untrusted-file = { $path } may come from another user: { $reason }; the statements and commands in it would be executed
run-untrusted-file-hint = review them with  pgdyno report { $file } ; then own the file and  chmod 600 { $file }
run-other-server = stack.{ $node }{ $address ->
    [none] {""}
   *[other] {" "}({ $address })
 } leads to another server than in earlier trials of this run: it is { $now } now, but was { $before }; trials of different servers cannot be compared; start a new run, or let the address lead to the first server again
run-server-identity = PostgreSQL { $version }, system identifier { $system ->
    [none] unknown
   *[other] { $system }
 }, database "{ $database }"
run-other-version = stack.{ $node }{ $address ->
    [none] {""}
   *[other] {" "}({ $address })
 } is { $now } now, but was { $before } in earlier trials of this run; trials of different servers cannot be compared; start a new run
run-set = write  { $set }
run-quick = --quick only checks that the experiment works: it measures too little for a result{ $least ->
    [none] {""}
   *[other] , and differences between cells need at least { $least } trials of each
 }; for a result, run the file without --quick
run-load-ended = the load ended early
run-setup-stopped = stopped
run-data-cache-number = { $name } is { $value }, which is not a number of at least 0; write a number such as { $example }
run-resumed-kept = this run cannot be resumed, because its trials depend on data that are lost (`keep` or `from`); repeat it
run-resumed-benchmark = a run of `pgdyno bench` cannot be resumed; measure again
run-other-owner = another user owns it
run-other-mode = its permissions are { $mode } instead of 0600


### Check of the operations before the first trial: preflight-

# As psql labels a line of a statement. Followed by a space and the line.
preflight-line = LINE { $line }:
preflight-similar-name = did you mean { $name }?
preflight-no-tables = the database has no tables; add a section dataset, or attach a database that has them
preflight-correct-operation = correct the operation; to measure it as it is, give it  preflight: false
preflight-correct = correct the statement; to measure it as it is, give its operation  preflight: false
preflight-errors = { $count ->
    [one] { $count } operation error
   *[other] { $count } operation errors
 }; { $measured ->
    [true] the run ends before the next trial
   *[false] no trial was started
 }
preflight-stopped = an operation of the next trial cannot succeed


### Command try: try-

try-cell = cell { $number } of { $count }: { $name }
try-operation = operation { $name }
try-succeeded = ok, { $time }
try-failed = failed: { $reason }
try-unfinished = cancelled, because it took too long
try-more-rows = { $count ->
    [one] and { $count } more row
   *[other] and { $count } more rows
 }
try-body-length = the body has { $bytes }
try-replay = `pgdyno try` executes operations, and a load with `traffic` has none: the recording contains its statements
try-unknown-operation = the file has no operation "{ $name }"
try-operations = { $nearest ->
    [none] the operations are: { $all }
   *[other] write { $nearest }; the operations are: { $all }
 }


### Commands serve and run --live, and metrics for Prometheus: site-

site-running = { $url } shows the runs in { $directory }; Ctrl-C stops the server
site-live = live page: { $url }
site-no-directory = directory "{ $directory }" does not exist
site-no-directory-hint = pgdyno run creates it; --dir selects another one
site-failed = cannot serve: { $error }
site-cannot-listen = cannot listen on { $address }: { $error }
site-cannot-listen-hint = --port selects another port, and --port 0 a free one
site-reachable = { $address } can be reached from other machines
site-needs-token = { $address } can be reached from other machines, and requires a token
site-needs-token-hint = set a token with --token-file or PGDYNO_TOKEN, or omit --host
site-prometheus-hint = add --prometheus-anyone to allow it, or use 127.0.0.1
site-token-unreadable = cannot read the token from { $path }: { $error }
site-token-short = the token is shorter than { $characters } characters
site-token-short-hint = create one, for example:  head -c 24 /dev/urandom | base64 > token
site-no-browser = cannot open a browser with xdg-open: { $error }


### Matrix of cells: matrix-

# Headings of at most 12 columns.
matrix-tps = tps
    .requests = requests/s
matrix-p50 = p50, ms
matrix-p99 = p99, ms
matrix-requests = requests
matrix-failed-requests = failed
matrix-replication-lag = max lag, ms
matrix-errors = errors/1000
matrix-dropped = dropped/1000
matrix-refused = refused
matrix-deadlocks = deadlocks/1k
matrix-served = served
matrix-starved = starved
matrix-pooler-cpu = pooler CPU
matrix-server-cpu = PG CPU
matrix-time-to-steady = settling, s
# Verdicts of at most 14 columns.
matrix-no-evidence = no evidence
matrix-lower = lower
matrix-higher = higher
matrix-too-few-runs = too few trials

matrix-unix = Unix socket
matrix-tcp = TCP
matrix-tls = TLS
matrix-attached-transport = set by its address
# In place of the CPUs and the quota of a node.
matrix-attached = attached
matrix-generator = generator
# The pool's mode, as a phrase of its own and as an attribute of "mode".
matrix-session = session
matrix-transaction = transaction
matrix-statement = statement
matrix-session-mode = session
matrix-transaction-mode = transaction
matrix-statement-mode = statement
matrix-pool-size = pool { $size }
matrix-slots = { $size } slots
matrix-maxconn = maxconn { $size }
# Between numbers of processors.
matrix-cpu-separator = ,
# A quota of processors, and the numbers of the processors; `count` is their number.
matrix-placement = { $quota ->
    [none] { $count ->
        [0] any CPU
       *[other] on CPU { $numbers }
     }
   *[other] { $count ->
        [0] { $quota } CPU
       *[other] { $quota } CPU, on { $numbers }
     }
 }

matrix-nothing-measured = nothing was measured
matrix-interrupted = interrupted
matrix-skipped = skipped: { $reason }
matrix-failed = failed: { $reason }
matrix-left-out = { $left_out } of { $total } trials { $left_out ->
    [one] is
   *[other] are
 } excluded: { $reason }
matrix-limits-not-applied = measured without limits that could not be applied: { $limits }: { $reason }
matrix-legend = medians of the valid trials and their 95 % intervals{ $baseline ->
    [none] {""}
   *[other] ; ratio: vs { $baseline }, test over trials as in pgdyno compare, false discovery rate 5 %, bootstrap seed { $seed }
 }{ $too_few ->
    [true] ; at least four trials per cell are needed to show a difference
   *[false] {""}
 }
matrix-watching = monitoring used { $share } of a CPU


### Findings: finding-

# Beginnings of paragraphs: what findings of one kind have in common.
finding-slots-role = PostgreSQL refused connections: the role's CONNECTION LIMIT was reached
finding-slots-database = PostgreSQL refused connections: the database's CONNECTION LIMIT was reached
finding-slots = PostgreSQL's connection slots were exhausted{ $max_connections ->
    [none] {""}
   *[other] {" "}(max_connections { $max_connections })
 }
finding-starved = only some clients were served, which the average hides (Jain's index; 1 is fair)
finding-starved-pool = some clients were starved behind a pool of { $size } in { $mode } mode, which the average hides
finding-not-compared = excluded from comparisons
finding-host-bound = all { $processors } CPUs of this machine were saturated, so results depend on which process received CPU time
finding-generator-share = the generator used a large share of this machine's { $processors } CPUs
finding-like-for-like = throughput vs the direct cell, with the same transport on every hop
# `with` is unix, tcp or tls; `transports` is a list.
finding-unlike = a comparison of different transports, { $transports } vs { $with ->
    [unix] Unix socket
    [tcp] TCP
   *[tls] TLS
 }, would show these changes (in parentheses: with equal transports)
finding-no-difference = no evidence that the pool mode changes throughput
finding-queue-pooler = transactions queue in { $node }: waiting clients (from its console), longest wait, busy PostgreSQL sessions
finding-queue-pooler-unknown = transactions queue in { $node } (its console does not report waiting clients): transactions in flight, busy PostgreSQL sessions
finding-queue-balancer = transactions queue in { $node }{ $maxconn ->
    [none] {""}
   *[other] {" "}(maxconn { $maxconn })
 }: waiting connections, mean wait
finding-pooler-bound = the CPU of { $node } is saturated; its console shows a full pool, but few of its server connections run a statement
finding-pool-bound = the server connections of { $node } are in use and clients wait for one, while its CPU is not saturated
finding-pool-bound-by-setting = all { $pool } server connections that { $setting } of { $node } allows are in use and clients wait for one, while its CPU is not saturated
finding-server-bound = the CPU of { $node } is saturated
finding-server-queue = sessions of { $node } queue for its CPU, which is idle at other times
finding-sessions-wait = most active PostgreSQL sessions waited for { $event }
finding-failures = transactions failed with { $code }{ $name ->
    [none] {""}
   *[other] {" "}{ $name }
 }
    .requests = requests failed with { $code }{ $name ->
        [none] {""}
       *[other] {" "}{ $name }
     }
finding-deadlocks = deadlocks per thousand transactions
finding-not-concurrent = where { $busy } transactions were in progress in PostgreSQL
finding-not-open = the in-flight cap ({ $clients }) was reached, so the test was no longer open-loop
finding-sizes = responses to { $request } differ in size although their status is as expected; check whether the small ones are error or login pages, and state what a response must contain (expect.contains)
finding-sizes-below-recorded = responses to { $operation } are less than half as large as recorded in the log; check whether they are error or login pages
finding-sizes-above-recorded = responses to { $operation } are more than twice as large as recorded in the log; the recorded ones may have been compressed
finding-recorded-status = responses to { $operation } have a different status than recorded in the log
finding-replay-diverged = results of the replayed statement { $operation } differ from the recorded results
finding-requests-missing = the load does not send all requests of its logs
finding-recorded-times = response times of { $operation }: those in the log are of the server, without the network, so they are not compared
finding-replay-as-recorded = all results of the replay are as recorded
finding-no-rows = operation { $operation }, command { $command }: { $statement ->
    [none] combined statements
   *[other] { $statement }
 } found no row; check that the keys exist and that the tables are not empty
finding-no-rows-expected = operation { $operation }, command { $command }: { $statement ->
    [none] combined statements
   *[other] { $statement }
 } found no row, which may be intended
finding-clients-left = { $node } still had clients after the load had ended
finding-open-closed = the closed-loop test hides the wait of users who keep arriving
finding-logins-differ = PostgreSQL has many more logins than in another cell with the same operations. Each login starts a process and verifies the password, so part of the difference in PostgreSQL's CPU and in response times is due to logins. Keep connections open, or put a pooler in front of PostgreSQL
finding-feeds-differ = the result depends on the feed { $feed }

# Paragraphs.
finding-paragraph = { $begin }: { $cells }
finding-table = { $begin }:
finding-shares = { $begin }; { $cells }
finding-deadlocks-beside = deadlocks cannot be compared with those of { $cell }, { $begin }: { $cells }
finding-and = {" "}and{" "}

# One cell of a paragraph.
finding-slots-cell = { $cell } ({ $refused } refused, { $logged } in its log{ $first ->
    [none] {""}
   *[other] , first in second { $first }
 }{ $some })
finding-starved-cell = { $cell } { $served } of { $clients } ({ $hardly ->
    [0] {""}
   *[other] { $hardly } almost not at all,{" "}
 }Jain { $jain })
finding-figures-cell = { $cell } ({ $figures })
finding-figure-cell = { $cell } { $figure }
finding-unlike-cell = { $cell } { $change } ({ $like })
# The modes are none if the cells' names tell them.
finding-no-difference-cell = { $cell } vs { $with }{ $mode ->
    [none] {""}
   *[other] {" "}({ $mode } vs { $with_mode })
 } { $change }
finding-change = { $change }{ $interval ->
    [none] {""}
   *[other] {" "}(95 % CI { $interval })
 }
finding-queue-cell = { $cell } { $figures }
finding-in-use = { $in_use } of { $pool } in use
finding-running = { $active } running
finding-runnable = { $sessions } sessions run or wait for a CPU
finding-busy-server = { $busy } busy in PostgreSQL
finding-cpu = { $used } of { $limit } CPU
finding-throttled = throttled in { $share } of periods
finding-stalled = { $cpu } CPU lost to throttling
finding-sessions-cell = { $cell } { $share } of { $active }
finding-failures-cell = { $cell } { $count } of { $total }
finding-deadlocks-cell = { $cell } { $rate }{ $interval ->
    [none] {""}
   *[other] {" "}(95 % CI { $interval })
 }, { $runs ->
    [one] { $runs } trial
   *[other] { $runs } trials
 }
finding-not-open-cell = { $cell } { $waited } of { $arrivals } arrivals waited, { $dropped } were dropped{ $some }
finding-sizes-fell = { $cell } median { $before } until second { $second }, then { $after } ({ $share } of all responses)
finding-sizes-two = { $cell } { $share } of responses about { $small }, the others about { $large }
finding-sizes-smaller = { $cell } median { $here }, vs { $there } in { $with }
finding-sizes-recorded = { $cell } { $share } of responses, median { $here } vs { $recorded } recorded
finding-recorded-status-cell = { $cell } { $share } of { $count }
finding-replay-diverged-cell = { $cell } of { $results } { $results ->
    [one] result
   *[other] results
}: { $differences }
finding-replay-difference = { $kind ->
    [failed] { $count } failed instead of succeeding
    [succeeded] { $count } succeeded instead of failing
    [error] { $count } failed with another error
    [fewer] { $count } with fewer rows
   *[more] { $count } with more rows
}
finding-requests-missing-cell = { $cell } { $share } are missing ({ $missing } of { $recorded })
finding-recorded-times-cell = { $cell } log { $recorded } (n = { $count }), this load { $measured }
finding-recorded-times-quantiles = p50 { $p50 }{ $p99 ->
    [none] {""}
   *[other] , p99 { $p99 }
 }
finding-replay-as-recorded-cell = { $cell } { $results } { $results ->
    [one] result
   *[other] results
}, { $rows } of them with a recorded number of rows
finding-no-rows-cell = { $cell } in { $share } of { $count } executions{ $second ->
    [none] {""}
   *[other] , from second { $second } on
 }
finding-clients-left-cell = { $cell } { $clients }{ $some }
finding-open-closed-cell = { $with }: { $closed }; { $cell }, with { $offered } offered: { $open }
finding-logins-cell = { $cell } { $rate } logins/s{ $cpu ->
    [none] {""}
   *[other] , PostgreSQL { $cpu } CPU
 }; { $with } { $with_rate } logins/s{ $with_cpu ->
    [none] {""}
   *[other] , PostgreSQL { $with_cpu } CPU
 }
finding-feeds-cell = { $cell } { $response }{ $read ->
    [none] {""}
   *[other] {" "}({ $read })
 } vs { $with } { $with_response }{ $with_read ->
    [none] {""}
   *[other] {" "}({ $with_read })
 }
finding-response = { $p99 ->
    [none] { $rate }
   *[other] p99 { $p99 } at { $rate }
 }
# Of a cell's trials; nothing if it was in all of them.
finding-some-trials = , in { $trials } of { $total } trials

finding-left-out-slots = connections were refused in { $cells }
finding-left-out-starved = clients starved in { $cells }
finding-left-out-errors = more than 1 % of transactions failed in { $cells }
    .requests = more than 1 % of requests failed in { $cells }
finding-left-out-cell = { $cell }{ $failed ->
    [none] {""}
   *[other] {" "}({ $failed })
 }
finding-unlike-many = { $changes } ({ $like }) in { $cells }

# Who used processors: in a list of cells, and in a range over cells.
finding-used-generator = generator { $cpus }
finding-used-before = nodes before PostgreSQL { $cpus }
finding-used-server = PostgreSQL { $cpus }
finding-used-others = other processes { $cpus }
finding-range-generator = the generator used { $cpus }
finding-range-before = the nodes before PostgreSQL used { $cpus }
finding-range-server = PostgreSQL used { $cpus }
finding-range-others = other processes used { $cpus }
finding-shares-all = in all cells: { $used }
finding-shares-all-but = in all cells but { $cells }: { $used }
finding-shares-these = in { $cells }: { $used }


### Causes of limits: bound-

bound-service = the CPU of { $node } is saturated
bound-service-pool = all { $pool } connections of { $node } are in use, and requests wait for one
bound-service-threads = all threads or processes of { $node }{ $pool ->
    [none] {""}
   *[other] {" "}({ $pool })
} are busy, and requests wait for one
bound-host-cpu = the CPUs of { $host } are saturated (host of { $nodes })
bound-reads = { $node } waits for disk reads
bound-writes = { $node } waits for disk writes
bound-memory = { $node } uses its whole memory and reads evicted pages again
bound-wal-flush = commits wait for WAL flushes
bound-sync-replicas = commits wait for replicas
bound-row-locks = transactions wait for row locks
bound-locks-advisory = transactions wait for advisory locks
bound-locks-relation = transactions wait for locks of tables
bound-locks-extend = transactions wait for each other to extend a table or an index
bound-locks-object = transactions wait for locks of database objects
bound-locks-buffer-pin = transactions wait for buffers that other sessions have pinned
bound-locks-heavyweight = transactions wait for locks of the kind { $name }
bound-locks-lightweight = sessions wait for the lightweight lock { $name }
bound-avoidable-work = PostgreSQL does avoidable work: { $work }
bound-result-reading = sessions wait until clients read the results of their statements
bound-delayed-acknowledgements = response times gather at 40 ms, as with delayed acknowledgements of TCP, although PostgreSQL's statements are fast
bound-scans = PostgreSQL repeatedly scans { $table } sequentially
bound-checkpoints = checkpoints run during the load
bound-clients = no resource is saturated: { $clients } closed-loop clients do not offer more load, because each waits for its response

# Figures of one cell.
bound-in-use = { $busy } of { $size } in use
bound-busy = { $busy } of { $size } busy
bound-waiting = { $waiting } waiting
bound-had-to-wait = { $share } of requests waited
bound-per-second = { $rate }{ $quota ->
    [none] {""}
   *[other] {" "}of { $quota }
 } per second
bound-sessions-wait = { $share } of active sessions wait for it
bound-memory-used = { $used } of { $limit } used
bound-memory-read = { $read } from disk per transaction
bound-sessions = { $share } of { $active } active sessions
bound-longest = longest wait { $time }
bound-statements = statements: { $statements }
bound-scans-each = { $scans } scans per transaction
bound-scan-rows = { $rows } rows per scan
bound-scan-cpu = PostgreSQL's CPU { $share } busy
bound-checkpoints-requested = { $count } requested because of the WAL volume
bound-checkpoints-share = in progress for { $share } of the time
bound-checkpoints-full-pages = { $share } of the WAL are full-page images
bound-temporary-files = { $files } files and { $bytes } per transaction
bound-share-of-server = { $share } of PostgreSQL's time
bound-planning = { $time } per plan
bound-empty-pages = { $size } read by each of { $scans } scans per transaction, although the rows need only { $needed }
bound-subtransactions = { $ids } transaction ids per transaction
bound-dead-rows = { $dead } dead row versions, { $live } live rows
bound-changed-rows = { $changed } rows changed since the last ANALYZE, { $live } live rows
bound-autovacuum = { $workers } workers, { $share } of the processes that run or wait for a CPU
bound-grown-table = the table has { $growth } times its size at its last VACUUM or ANALYZE
bound-rows-read = { $read } rows read and { $returned } returned or changed per transaction
bound-toast-blocks = { $toast } of { $blocks } blocks per transaction
bound-unused-indexes = { $indexes } indexes, { $rows } rows written per transaction
bound-foreign-key = { $deletes } referenced rows deleted and { $read } rows scanned per transaction
bound-repeated-statement = { $statements ->
    [one] { $calls } executions per transaction, { $share } of the time of all statements
   *[other] { $calls } executions of { $statements } statements per transaction, { $share } of the time of all statements
 }
bound-large-result = { $rows } rows per execution, { $share } of the time of all statements
bound-function = { $calls } calls per transaction, { $time } each
bound-old-snapshot = snapshot { $age } old; dead row versions { $first } at first, { $last } at the end
bound-server-time = statements in PostgreSQL { $time }
bound-checkpoints-slowed = throughput during checkpoints { $change }
bound-clients-rate = { $rate } of at most { $most }
bound-clients-mean = mean response time { $time }
bound-clients-idle = { $share } of PostgreSQL's CPU idle


### Circumstances of findings: circumstance-

circumstance-feed-cached = the test measures the cache, because the rows that the feed { $feed } selects fit in memory: its { $distinct } distinct values select { $touched } of { $bytes }, and the server may use { $memory }
circumstance-chained-pools = two pools in series: { $service } has { $connections } connections, { $pooler } behind it has { $pool }
circumstance-deadlock-statements = deadlocks between the same statements. Let these transactions lock rows in the same order, for example sorted by key, and keep them short
circumstance-hidden-deadlocks = PostgreSQL counted deadlocks that the clients did not see, because the service or its driver repeated the transactions or reported another error. Each cost at least `deadlock_timeout` and a transaction. Let all transactions lock rows in the same order, and let the service log SQLSTATE 40P01
circumstance-no-free-slots = PostgreSQL had no free connection slot, although no client reported a refused login (53300). Further logins are refused; a service may hide this from its clients. Reduce the connections of the pools in front of PostgreSQL, or raise max_connections
circumstance-active-collapse = active clients collapse while the load is constant: PostgreSQL has less to do, and requests queue in front of it
circumstance-sessions-lost = sessions of PostgreSQL ended abnormally, by its own counters. The server's log states the reasons
circumstance-uneven-copies = { $balancer } distributes requests unevenly among the copies of { $service }. A copy with more requests reaches its limits before the others do. Requests go to the copies in turn, but only to those whose ready page returns 200: check why a copy was not ready
circumstance-connection-storm = connections are opened or statements are cancelled continually
circumstance-generator-late = trials are invalid because the generator or its host was the limit
circumstance-noisy-host = noisy host: CPU steal or late timers
circumstance-trial-trends = change of the figures from the first to the last trial, because the data are not restored between trials
circumstance-bloat = { $grown ->
    [true] dead row versions accumulate
   *[false] tables were vacuumed during the load
 }
circumstance-idle-transactions = PostgreSQL sessions are idle in transaction for more than a second, and keep their locks and their pooled connection. The cause is a faulty or a slow client. Shorter idle times are not counted
circumstance-littles-law = the number of transactions in { $node } does not equal throughput times the time spent there (Little's law): some have not ended, or are counted elsewhere
circumstance-data-changed = trials of one cell found different data on the attached server, so their figures are not repetitions of one measurement
circumstance-not-used = the load did not pass through { $node }: it counted none or few of the transactions that clients completed. Either the load took another path, or the figures belong to another node. Findings therefore do not name { $node } as a limiter
circumstance-no-session = the load did not pass through { $node }: it had no session while clients completed transactions. Either the load took another path, or the figures belong to another node. Findings therefore do not name { $node } as a limiter
circumstance-error-origins = the sessions that caused the errors in PostgreSQL's log
circumstance-not-judged = not judged: { $rules }
circumstance-not-judged-because = { $rules } ({ $reason })

# Figures of one cell.
circumstance-trial-trend = { $figure } { $first } → { $last }, { $direction ->
    [rises] rises
    [falls] falls
   *[none] no evidence of a change
 } (change { $interval })
circumstance-trend-trials = { $trials } trials
circumstance-assignments = { $times } server assignments per transaction
circumstance-sets = { $sets } SET statements per transaction
circumstance-deadlock-group = { $count } of { $total } { $total ->
    [one] deadlock
   *[other] deadlocks
 } in the log between { $statements }{ $relations ->
    [none] {""}
   *[other] {" "}on { $relations }
 }, waiting for { $locks }; first after { $time }{ $trial ->
    [none] {""}
   *[other] {" "}of trial { $trial }
 }{ $kinds ->
    [1] {""}
   *[other] ; { $kinds } different combinations of statements
 }
circumstance-deadlocks-counted = the server counted { $counted } in { $databases }, the clients saw { $clients ->
    [0] none
   *[other] { $clients }
 }
circumstance-collapse = { $change } from second { $second }{ $trial ->
    [none] {""}
   *[other] {" "}of trial { $trial }
 } for { $duration } at { $rate }/s; in flight { $first }, then { $last }{ $evidence ->
    [none] ; the logs and counters show no cause
   *[other] ; at the same time { $evidence }, so the service probably closes connections or cancels statements on timeouts and opens new connections: allow longer timeouts, or keep the connections
 }{ $trial ->
    [none] {""}
   *[other] ; in { $trials } of { $total } trials
 }
circumstance-collapse-clients = active clients of { $node } { $before }, then { $during }
circumstance-collapse-sessions = active sessions of { $node } { $before }, then { $during }
circumstance-collapse-cancelled = { $count ->
    [one] { $count } statement was
   *[other] { $count } statements were
 } cancelled
circumstance-collapse-closed = { $count } sessions of PostgreSQL were closed
circumstance-collapse-logins = logins rose from { $before }/s to { $during }/s
circumstance-slots-full = in { $share } of the samples, at most { $sessions } sessions
circumstance-sessions-fatal = { $count } by a FATAL error
circumstance-sessions-killed = { $count } terminated by an operator or a shutdown
circumstance-sessions-abandoned = { $count } because the client's connection was lost
circumstance-in-databases = { $figures } in { $databases }
circumstance-copy-share = { $node } { $share }
circumstance-copy-shares = { $shares } of { $requests } requests
circumstance-logins = { $rate } logins/s, { $each } per transaction
circumstance-cancelled = { $count } of 1000 transactions cancelled
circumstance-trials = { $cell } { $trials } of { $total }
circumstance-stolen = { $cpus } CPU stolen
circumstance-late-timers = p99 timer jitter { $time }
circumstance-dead-rows = { $first } in the first of { $trials } trials, { $last } in the last, { $live } live rows
circumstance-vacuums = tables vacuumed per trial: { $count }
circumstance-idle-sessions = { $sessions } sessions on average
circumstance-idle-longest = longest { $time }
circumstance-idle-horizon = { $sessions } of them hold back vacuum
circumstance-idle-blocked = { $sessions } sessions wait for their locks
circumstance-idle-pool = { $clients } clients wait for a pool of { $size }
circumstance-number = { $number } transactions instead of { $expected }
circumstance-time-each = { $time } each
circumstance-data-sizes = tables of { $least } to { $most }
circumstance-tables-replaced = tables created, dropped, truncated or rewritten
circumstance-server-restarted = server restarted
circumstance-counted = it counted { $counted } of { $transactions } transactions in { $trials } of { $total } trials
circumstance-sessions = { $counted } sessions, { $transactions } transactions in { $trials } of { $total } trials
circumstance-errors = { $kind } { $origin }: { $count }
circumstance-errors-deadlock = deadlocks
circumstance-errors-slots = logins without a free slot
circumstance-errors-fatal = fatal errors
circumstance-errors-other = errors
circumstance-origin-node = through { $node }
circumstance-origin-direct = from the load, directly
circumstance-origin-own = from pgdyno's own sessions
circumstance-origin-other = from { $application } at { $client }
circumstance-origin-unknown = from unknown sessions
circumstance-read = { $blocks ->
    [none] { $disk } from disk per transaction
   *[other] { $disk ->
        [none] { $blocks } blocks not in shared buffers per transaction
       *[other] { $blocks } blocks not in shared buffers and { $disk } from disk per transaction
     }
 }

circumstance-rule-server-cpu = PostgreSQL's CPU
circumstance-rule-pooler-cpu = the pooler's CPU
circumstance-rule-balancer-cpu = the balancer's CPU
circumstance-rule-service-cpu = the service's CPU
circumstance-rule-remote-host = the CPUs of other hosts
circumstance-rule-shared-host = the CPU quotas of the hosts
circumstance-rule-pool = the pool
circumstance-rule-service-pool = the service's connections
circumstance-rule-service-threads = the service's threads
circumstance-rule-waits = waits for locks, WAL and replicas
circumstance-rule-reads = disk reads
circumstance-rule-writes = disk writes
circumstance-rule-memory = memory
circumstance-rule-scans = sequential scans
circumstance-rule-avoidable-work = avoidable work of PostgreSQL
circumstance-rule-result-reading = how clients read results
circumstance-rule-checkpoints = checkpoints
circumstance-rule-storm = logins
circumstance-rule-bloat = dead row versions
circumstance-rule-idle-transactions = sessions idle in transaction
circumstance-rule-host = the machine
circumstance-rule-feed = whether the feed fits in memory

circumstance-missing-group = its CPU, memory and disk usage was not measured
circumstance-missing-quota = it has no quota
circumstance-missing-server = PostgreSQL's statistics were not available
circumstance-missing-console = the pooler's console was not available
circumstance-missing-samples = the load was too short to sample the pooler's console at full load
circumstance-missing-stats = the service reports no statistics
circumstance-missing-metrics = the metrics of the host were not available
circumstance-missing-machine = the machine's statistics were not available
circumstance-missing-column = no feed names the table column of its values


### Index advice: advice-

advice-rows-read = rows read
advice-remedy = remedy
advice-plans = { $count ->
    [one] Query plan of one statement
   *[other] Query plans of { $count } statements
}
advice-no-index = No further index would help.
advice-no-plans = This run has no query plans. pgdyno records them if it starts PostgreSQL itself and a trial completes.
advice-concurrently = In production, use CREATE INDEX CONCURRENTLY, which does not block writes.
advice-applied = Effect of the indexes, compared with the same data without them:
advice-without-planner = Estimated without the planner, which could not evaluate hypothetical indexes: { $reason }.

advice-saved-together = By the planner's cost { $indexes ->
    [one] this index
   *[other] these { $indexes } indexes
 } would save { $share } of the total statement time{ $speedup ->
    [none] {""}
   *[other] ; if PostgreSQL is the limiter, throughput rises to at most { $speedup } times its present value
 }.

# A column, and the number of its distinct values.
advice-column = { $column }{ $distinct ->
    [none] {""}
    [one] {" "}({ $distinct } distinct value)
   *[other] {" "}({ $distinct } distinct values)
 }
advice-column-and = {" "}and{" "}
advice-descending = { $column } descending
advice-by-value = equality on { $columns }
advice-by-range = a range on { $columns }
advice-by-order = the order by { $columns }
advice-why-index = Supports { $purpose }; the table has { $rows ->
    [one] { $rows } row
   *[other] { $rows } rows
 }.
advice-index-saves = It speeds up { $statements ->
    [one] { $statements } statement
   *[other] { $statements } statements
 }{ $share ->
    [none] {""}
   *[other] ; alone, it would save { $share } of the total statement time
 }.
advice-index-costs = { $size ->
    [none] {""}
   *[other] It takes about { $size }.{" "}
 }{ $statements ->
    [0] No planned statement has to maintain it.
    [one] { $statements } statement has to maintain it.
   *[other] { $statements } statements have to maintain it.
 }{ $not_hot ->
    [0] {""}
    [one] {" "}{ $not_hot } of them changes an indexed column, so its updates can no longer be heap-only (HOT).
   *[other] {" "}{ $not_hot } of them change an indexed column, so their updates can no longer be heap-only (HOT).
 }

advice-not-needed = none needed: it reads no large table completely
advice-index = an index
advice-index-number = index { $number }: cost { $before } → { $after }
advice-vacuum = VACUUM FULL { $table }: it has { $live } live rows and { $dead } dead row versions in { $size }; find out why autovacuum did not remove them
advice-analyze = ANALYZE { $table }: the planner expected { $estimated } rows and got { $actual }, because its statistics are old
advice-every-row = no index helps: it needs every row of the table
advice-most-rows = no index helps: it needs { $share } of the rows
advice-rewrite = { $obstacle } prevents the use of an index: { $remedy }
advice-obstacle-cast = the cast of { $column } to { $type }
advice-obstacle-expression = the expression { $expression }
advice-obstacle-pattern = the pattern for { $column }
advice-obstacle-alternatives = OR between { $columns }
advice-rewrite-cast = compare { $column } with values of its own type instead of casting it{ $index ->
    [none] {""}
   *[other] , so that the index { $index } can be used
 }
advice-rewrite-expression = create an index on this expression, or compare the column itself
advice-rewrite-pattern = for prefixes, create an index with text_pattern_ops; for other patterns, a GIN index with pg_trgm
advice-rewrite-alternatives = create an index on each of the columns, or combine two statements with UNION
advice-condition = no b-tree index supports { $condition }
advice-not-taken = no index that the planner would use saves much
advice-no-plan = no plan: { $reason }
# `counted`: `passed` is exact.
advice-scanned = all { $rows } rows of { $table }, of which it needs { $counted ->
    [true] { $passed }
   *[false] about { $passed }
 }

advice-applying = { $indexes ->
    [one] { $indexes } index is
   *[other] { $indexes } indexes are
 } built in a copy of the data, which is then compared with the data without the new indexes; { $repeat ->
    [one] { $repeat } trial
   *[other] { $repeat } trials
 } each
advice-index-built = { $ddl }: built in { $elapsed }, { $size }
advice-statement-changed = { $before } → { $after } on average ({ $ratio }{ $writes ->
    [true] , writes
   *[false] {""}
 })
advice-heap-only = heap-only (HOT) updates: { $before } → { $after } of updated rows


### Page: words of its script: web-

web-skip = Skip to content
web-contents = Contents
web-language = Language
web-theme = Theme
web-theme_auto = System
web-theme_light = Light
web-theme_dark = Dark
web-print = Print
web-good = good
web-doubt = doubtful
web-bad = bad
web-baseline = baseline
web-trial = Trial
web-zoom_out = Reset zoom
# Menu in which trials are selected whose lines are drawn on the same charts.
web-overlay = Overlay trials
web-overlay_help = The charts then show the delivered rate, the median and p99 of the selected trials.
web-chart_help = Drag to zoom in, double-click to zoom out; arrow keys move the cursor
web-time = Time
web-show_table = Show table
web-hide_table = Hide table
web-more_rows = More rows
# Collapsed charts below the others.
web-more_charts = More charts
web-marks = Events
web-evidence = Evidence
# Label of a heat map's menu.
web-figure = Figure
web-worse = worse
web-same = the same
web-better = better
# Button that shows all columns of a narrow table, and its opposite.
web-all_columns = All columns
web-few_columns = Fewer columns
web-copy = Copy
web-copied = Copied
web-s = { number-seconds }
web-ms = { number-milliseconds }
web-us = { number-microseconds }
web-b = { number-bytes }
web-kib = { number-kibibytes }
web-mib = { number-mebibytes }
web-gib = { number-gibibytes }
web-tib = { number-tebibytes }
web-per_second = { number-per-second }
web-decimal = { number-decimal-separator }
web-thousand = k
web-million = M
web-live = Running now
web-now = Current values
web-waiting = Waiting for current values
web-connecting = Connecting …
web-lost = Connection lost; reconnecting
web-ended = The run has ended
web-stop = Stop the run
web-stop_sure = Stop this run? Results measured so far are kept.
web-stop_no = Keep running
web-stopping = Stopping …
web-stop_failed = The run could not be stopped
web-no_script = This page needs JavaScript, which is disabled in this browser. `pgdyno report RUN --format md` prints the same report as text.
web-cannot_unpack = This browser cannot decompress the page. Use a browser released in 2023 or later.
# Instead of the parts that a summary omits for lack of space.
web-left_out = The rest is omitted here; the HTML report contains it.


### Page: headings and sentences: page-

# Headings of sections.
page-goals = Objectives and load
page-stack = System: where time is spent and where requests queue
page-results = Results by operation
page-matrix = All cells
# Caption of the picture of the response time by percentile.
page-response-curve = Response time by percentile, up to the last one with ten arrivals beyond it{ $unanswered ->
    [0] {""}
    [one] ; higher percentiles are unknown, because { $unanswered } arrival has no answer
   *[other] ; higher percentiles are unknown, because { $unanswered } arrivals have no answer
 }
page-charts = Over time
page-statements = Most expensive statements
page-advice = Indexes
page-findings = Findings
page-doubts = Caveats
page-environment = Test environment
page-repeat = How to reproduce

# Names of facts.
page-load = load
page-window = measured
page-operations = operations
page-dataset = data
page-stop-rules = stop rules

# Headings of columns.
page-operation = operation
page-offered = offered/s
page-delivered = delivered/s
page-goodput = goodput/s
page-failed = failed
page-dropped = dropped
page-failure = failure
page-count = count
page-response-time = response { $figure }, ms
page-service-time = service { $figure }, ms
page-answer-size = size { $figure }
page-answer-sizes = size of answers
page-statement = statement
page-step = step
page-steps = Steps of the operations
page-step-failures = Failures by step
page-requests = requests
page-answer-body = beginning of the answer
page-not-reached = not reached
page-phase-connect = connect mean, ms
page-phase-tls = TLS mean, ms
page-phase-first-byte = first byte mean, ms
page-phase-transfer = transfer mean, ms
page-sent = sent
page-received = received
page-calls = calls
page-total-seconds = total, s
page-mean-milliseconds = mean, ms
page-mean-in-baseline = mean in { $baseline }, ms
page-share-percent = share, %
page-rows = rows
page-blocks-hit = blocks hit
page-blocks-read = blocks read
page-node = node
page-version = version
page-program = program
page-transport = transport
page-node-limits = limits
page-node-cells = cells

# Other headings and names.
page-all-operations = all
page-command = command
page-file = experiment file
page-generator = generator
page-only-cell = the only cell
page-objectives = objectives
page-trials = trials
page-trial = { $cell ->
    [none] {""}
   *[other] { $cell },{" "}
 }trial { $number }
page-load-stage = stage
page-load-stages = by stage of the load
page-load-stage-seconds = measured, s
page-load-stage-users = { $users ->
    [one] { $users } user
   *[other] { $users } users
 }
page-load-stage-rate = { $rate }/s
page-load-stage-ramp = { $from } to { $to }/s
page-load-stages-sustained = No stage broke: at most 1 % of the arrivals failed, no connection was refused, and the throughput did not fall.
page-load-stage-broke-failed = The system broke at stage { $number } ({ $level }): { $share } of the arrivals failed or were dropped.
page-load-stage-broke-refused = The system broke at stage { $number } ({ $level }): { $count ->
    [one] { $count } connection was refused
   *[other] { $count } connections were refused
 }.
page-load-stage-refused = refused
page-load-stage-broke-behind = The system broke at stage { $number } ({ $level }): it delivered { $delivered } of { $offered } transactions per second.
page-load-stage-broke-slower = The system broke at stage { $number } ({ $level }): it delivered { $delivered } transactions per second, after { $highest } with fewer users.
page-initial-connects = Initial connection time of all clients: median { $median } ms, maximum { $max } ms ({ $trials ->
    [one] { $trials } trial
   *[other] { $trials } trials
 }).
page-more-cells = { $count ->
    [one] { $count } more cell
   *[other] { $count } more cells
 }
page-more-trials = { $count ->
    [one] { $count } more trial
   *[other] { $count } more trials
 }
page-all-steps = { $count ->
    [one] { $count } step
   *[other] { $count } steps
 }
page-all-cells = all cells
page-list = { $first } and { $last }
page-alternatives = { $first } or { $last }

# Short facts about the run.
page-moment = { $year }-{ $month }-{ $day } { $time } UTC
page-still-running = still running
page-extent = { $trials ->
    [one] { $trials } trial
   *[other] { $trials } trials
 } of { $cells ->
    [one] { $cells } cell
   *[other] { $cells } cells
 }
page-seed = seed { $seed }

# Questions.
page-question-clients = What throughput does { $path } sustain with { $count ->
    [one] { $count } client
   *[other] { $count } clients
 }?
page-question-users = What throughput does { $path } sustain with { $count ->
    [one] { $count } user
   *[other] { $count } users
 }?
page-question-schedule = Does { $path } sustain { $schedule }?
page-question-log = How does { $path } serve the requests of { $feeds }?
load-recorded-log = recorded requests of { $feeds }, speed { $speed }, { $requests } requests in { $duration }, { $mean } on average, { $peak } at most{ $missing ->
    [none] {""}
   *[other] ; { $missing }
 }
load-missing-requests = { $share } of the recorded requests are missing ({ $reasons })
load-missing-reason = { $reason ->
    [body] { $count } with a body that the log does not contain
    [request] { $count } without a valid request
    [misfit] { $count } that do not fit the format
   *[time] { $count } without a time
 }
page-question-replay = How does { $path } serve the traffic of { $recording }?
load-replay = replay of { $recording }, speed { $speed }, { $requests } requests of { $sessions } sessions
load-recorded-mix = { $transactions } recorded transactions of { $sessions } sessions in { $recording }{ $unfinished ->
        [0] {""}
        [one] {" "}(one request has no complete transaction)
       *[other] {" "}({ $unfinished } requests have no complete transaction)
    }
page-question-axes = How does throughput depend on { $axes }{ $baseline ->
    [none] {""}
   *[other] , compared with { $baseline }
 }?

# Load; `count` is the last of `clients` or `users`.
page-closed-model = closed model
page-open-model = open model
page-clients = { $clients } { $count ->
    [one] client
   *[other] clients
 }
page-users = { $users } { $count ->
    [one] user
   *[other] users
 }{ $rate ->
    [none] {""}
   *[other] {" "}(spawned at { $rate }/s)
 }
page-stages = users in stages: { $stages }
page-stage = { $users }{ $rate ->
    [none] {""}
   *[other] {" "}({ $rate }/s)
 } for { $duration }
page-thinking = think time { $time }
page-thinking-exponential = think time exponential, mean { $mean }
page-thinking-log-normal = think time log-normal, median { $median }, σ { $sigma }
page-pacing = pacing at least { $time }
page-rate-limit = at most { $rate }/s
page-arrivals-even = even arrivals
page-arrivals-poisson = Poisson arrivals
page-in-flight-cap = at most { $clients } in flight
page-protocol-simple = simple protocol
page-protocol-extended = extended protocol
page-protocol-prepared = prepared statements
page-reconnect = a new connection for each transaction
    .requests = a new connection for each request
page-timeout = timeout { $time }
page-tries = up to { $count ->
    [one] { $count } try
   *[other] { $count } tries
 }
page-trial-window = { $repeat ->
    [1] once
   *[other] { $repeat } times
 }, { $duration ->
    [none] { $transactions ->
        [none] until the schedule ends
        [one] { $transactions } transaction per client
       *[other] { $transactions } transactions per client
     }
   *[other] { $duration }{ $repeat ->
        [1] {""}
       *[other] {" "}each
     }
 }{ $warmup ->
    [none] {""}
   *[other] {" "}after { $warmup } of warm-up
 }

# Dataset.
page-data = { $content }; { $cache }; seed { $seed }
page-data-kept = { $data }; each trial found what the previous trial had left
page-data-rows = { $table }, { $rows ->
    [one] { $rows } row
   *[other] { $rows } rows
 }
page-data-users = { $table }, { $users ->
    [one] { $users } user
   *[other] { $users } users
 }
page-data-profiles = profiles, { $users ->
    [one] { $users } user
   *[other] { $users } users
 } with { $each } each
page-data-pgbench = pgbench's tables, scale { $scale }
page-data-dump = dump { $path }, { $size }
page-data-source = copy of { $dsn }
page-data-source-schema = schema of { $dsn } without rows
page-data-source-sample = sample of { $percent } % of { $dsn }
page-data-template = copy of the database { $database }
page-data-delivery = delivery.send and delivery.receive, scale { $scale }
page-cache-warm = warm caches
page-cache-cold = cold caches
page-cache-as-loaded = caches as left by loading

# Limits of a node.
page-limit-cpu = { $cpus } CPU
page-limit-cpus = { $count ->
    [one] on CPU { $cpus }
   *[other] on CPUs { $cpus }
 }
page-limit-memory = memory { $size }
page-limit-read-iops = { $rate } reads/s
page-limit-write-iops = { $rate } writes/s
page-limit-read-rate = reads { $size }/s
page-limit-write-rate = writes { $size }/s
page-unapplied-limit = { $limit } is not limited: { $reason }
page-not-limited = { $limit } is not limited

# Nodes of a drawing.
page-pool = { $mode } mode, pool { $size }
page-slots = { $slots ->
    [one] { $slots } slot
   *[other] { $slots } slots
 }
page-cpu-used = uses { $used }{ $quota ->
    [none] {""}
   *[other] {" "}of { $quota }
 } CPU
page-throttled = throttled in { $share } of the quota's periods
# The fullest resource of a node.
page-load-cpu = CPU { $share }
page-load-pool = pool { $used } of { $size }
page-cpu-bound = CPU saturated
page-pool-bound = pool exhausted
page-queue-here = transactions queue here
page-busy = { $count } in service
page-waiting = { $count } queued
page-time-per-transaction = { $time } per transaction
    .requests = { $time } per request
page-server-role = { $name }, { $role ->
    [primary] primary
   *[replica] replica
 }{ $at_first ->
    [true] {" "}at first
   *[false] {""}
 }
page-replication-async = WAL, commits do not wait
page-replication-first = WAL, commits wait for the first { $count }
page-replication-any = WAL, commits wait for any { $count }
page-promotes-most-advanced = promotes the most advanced replica when the primary has not answered for { $time }
page-promotes-laggard = promotes the replica furthest behind when the primary has not answered for { $time }
page-no-fencing = does not fence the old primary
page-manager-promotes = promotes a replica when the leader key has not been renewed for { $time }
page-store-servers = { $count ->
    [one] { $count } server
   *[other] { $count } servers
 } of { $store }
# After a path.
page-with-replicas = {" "}with { $count ->
    [one] { $count } replica
   *[other] { $count } replicas
 } ({ $replication }); { $manager } promotes
# Text alternative of a drawing; `node` is the one with the longest time.
page-drawing = { $path }{ $node ->
    [none] {""}
    [unknown] ; most of the time of a transaction ({ $time }) is not accounted for
    [generator] ; a transaction spends most of its time in the generator: { $time }
   *[other] ; a transaction spends most of its time in { $node }: { $time }
 }
    .requests = { $path }{ $node ->
        [none] {""}
        [unknown] ; most of the time of a request ({ $time }) is not accounted for
        [generator] ; a request spends most of its time in the generator: { $time }
       *[other] ; a request spends most of its time in { $node }: { $time }
     }

# Where the mean response time goes.
page-time-parts = Where the time of a transaction goes
    .requests = Where the time of a request goes
page-time-part = part
page-time-share = share
page-time-mean = mean, ms
page-time-unknown = not accounted for
page-time-running = { $node }: running, or waiting for a CPU
page-time-waiting = { $node }: waiting for { $event }
page-time-other-waits = { $node }: other waits
page-time-idle = { $node }: idle in transaction

# Charts.
page-heat-map = { $figure }{ $baseline ->
    [none] {""}
   *[other] , better or worse than in { $baseline }
 }
page-chart-rate = Offered and delivered
page-chart-response = Response time
page-chart-response-by-operation = Response time by operation
page-chart-response-by-step = Response time by step
page-chart-failures = Failures by code
page-chart-in-flight = In flight and waiting for a client
page-chart-service-pools = Threads and connections of the service
page-chart-pooler = Poolers and balancers
page-chart-connections = PostgreSQL sessions
page-chart-processors = CPU
page-chart-disk = Disk
page-chart-service-metrics = Metrics of the service
page-chart-service-counters = Counters of the service, increase per second
page-chart-waits = Wait events of active sessions
page-chart-replication-lag = Replication lag
page-chart-freshness = Time until replicas show acknowledged writes
page-chart-send-lag = Send lag of the generator
page-chart-transactions = Transactions of PostgreSQL
page-chart-locks = Waiting lock requests
page-chart-deadlocks = Deadlocks
page-chart-disk-operations = Disk operations
page-chart-memory = Memory
page-chart-host-memory = Available memory
page-chart-host-load = Load average
page-chart-network = Network
page-chart-agent-rate = Rate by agent
page-chart-agent-response = Response time by agent
page-chart-agent-send-lag = Send lag by agent
page-chart-agent-processors = CPU by agent
page-axis-per-second = per second
page-axis-seconds = seconds
page-axis-count = count
page-axis-processors = CPUs
page-axis-bytes = bytes
page-axis-bytes-per-second = bytes per second
page-axis-quantile = percentile
page-series-offered = offered
page-series-delivered = delivered
page-series-users = users (number)
page-series-max = max
page-series-failed = failed
page-series-unknown = outcome unknown
page-series-refused = refused
page-series-dropped = dropped
page-series-in-flight = in flight
page-series-waited = waited for a client
page-series-clients-active = clients active
page-series-clients-waiting = clients waiting
page-series-servers-active = servers active
page-series-servers-idle = servers idle
page-series-queue = queue
page-series-sessions = sessions
page-series-running = running
page-series-limit = limit
page-series-processors = used
page-series-host = whole machine
page-series-read = read
page-series-written = written
page-series-metric = metric
page-series-waiting = waiting
page-series-replication-lag = lag
page-series-visible = visible
page-series-threads-busy = busy threads
page-series-threads-waiting = requests waiting for a thread
page-series-threads-max = threads, maximum
page-series-connections-busy = busy connections
page-series-connections-waiting = requests waiting for a connection
page-series-connections-max = connections, maximum
page-series-commits = commits
page-series-rollbacks = rollbacks
page-series-locks-waiting = other locks
page-series-deadlocks = deadlocks
page-series-read-limit = limit of reads
page-series-write-limit = limit of writes
page-series-private-memory = private memory
page-series-group-memory = with shared memory and page cache
page-series-available-memory = available
page-series-load-average = load average, 1 min
page-series-runnable = runnable tasks
page-series-blocked = tasks waiting for a disk
page-series-received = received
page-series-sent = sent
page-event-deadlock = deadlock
page-event-too-many-connections = connection slots exhausted
page-event-slow-statement = slow statement
page-event-fatal = fatal
page-event-error = error
page-event-lifecycle = state change
page-event-fault = fault
page-event-reverted = fault reverted
page-event-promoted = promoted
page-event-rejoined = rejoined
page-event-other = log line

# Environment, and reasons for doubt.
page-in-trials = in { $trials } of { $total } trials: { $text }
page-not-passed = The load bypassed { $nodes }: the results do not describe it.
page-machine-system = system
page-machine-kernel = kernel
page-machine-processor = CPU
page-machine-processors = CPUs
page-machine-mainboard = mainboard
page-machine-memory = memory
page-machine-memory-modules = memory modules
page-machine-disks = disks
page-machine-unknown = unknown
page-disk-model-unknown = model unknown
page-disk-virtual = virtual disk
page-machine-files = open files (limit, maximum limit)
page-machine-ports = local ports
page-machine-clock-source = clock source
page-machine-governor = frequency governor
page-machine-cgroups = control groups

# Rows of statements.
page-without-rows = without rows, %
page-row-count = rows { $which }


### Page: answers: answer-

answer-not-yet = No answer yet: no trial has ended.
answer-nothing = No answer: { $total ->
    [1] its one trial does not count
   *[other] none of { $total } trials counts
 }: { $reason }.
# Answer of one cell.
answer-holds = Sustains { $rate }
answer-delivers = Delivers { $rate }
# Answers of several cells.
answer-baseline-holds = { $name } (the baseline) sustains { $rate }
answer-baseline-delivers = { $name } (the baseline) delivers { $rate }
answer-not-all-clients = { $rate } (not compared: clients were refused or starved, or too many transactions failed)
    .requests = { $rate } (not compared: clients were refused or starved, or too many requests failed)
answer-other = { $name } sustains { $figures }
answer-best-other = { $name } is the best of the others with { $figures }
answer-best = { $name } is the best with { $figures }
answer-worst = { $name } is the worst with { $figures }
answer-keeps-up = { $name } keeps up with the offered load: { $figures }
answer-does-not-keep-up = { $name } does not keep up with the offered load: { $figures }
answer-keep-up = { $count ->
    [one] { $count } of { $total } open-loop cells keeps
   *[other] { $count } of { $total } open-loop cells keep
 } up with the offered load
answer-highest = the highest offered load is that of { $name }: { $figures }
answer-furthest-behind = { $name } is furthest behind: { $figures }

# `whole` is the rate if it is a whole number.
answer-rate = { $rate }{ $offered ->
    [none] {""}
   *[other] {" "}of { $offered } offered
 } { $whole ->
    [one] transaction
   *[other] transactions
 } per second { $confidence }
    .requests = { $rate }{ $offered ->
        [none] {""}
       *[other] {" "}of { $offered } offered
     } { $whole ->
        [one] request
       *[other] requests
     } per second { $confidence }
answer-rate-of-offered = { $rate }{ $offered ->
    [none] {""}
   *[other] {" "}of { $offered }
 } { $confidence }
answer-confidence = { $low ->
    [none] ({ $trials })
   *[other] (95 % CI { $low } to { $high }, { $trials })
 }{ $p99 ->
    [none] {""}
   *[other] , p99 { $p99 }
 }
# A cell compared with its own baseline. `comparison` is absent if one of them is excluded from comparisons.
answer-pair = { $name } sustains { $rate } transactions per second compared with { $rate_with } of { $baseline }{ $comparison ->
    [none] {" "}(not compared: clients were refused or starved, or too many transactions failed)
   *[other] : { $comparison }
 }{ $p99 ->
    [none] {""}
   *[other] , p99 { $p99 }{ $p99_with ->
        [none] {""}
       *[other] {" "}compared with { $p99_with }
    }
 } ({ $trials })
    .requests = { $name } sustains { $rate } requests per second compared with { $rate_with } of { $baseline }{ $comparison ->
        [none] {" "}(not compared: clients were refused or starved, or too many requests failed)
       *[other] : { $comparison }
     }{ $p99 ->
        [none] {""}
       *[other] , p99 { $p99 }{ $p99_with ->
            [none] {""}
           *[other] {" "}compared with { $p99_with }
        }
     } ({ $trials })
answer-pair-change = ratio { $ratio }{ $low ->
    [none] {""}
   *[other] {" "}(95 % CI { $low } to { $high })
 }, { $verdict }
answer-more-pairs = and { $count ->
    [one] { $count } more pair
   *[other] { $count } more pairs
 }
answer-dull-pairs = no evidence of a difference in throughput in { $count } pairs
answer-uncompared = { $count ->
    [one] { $count } cell has no measured baseline, or was not measured itself
   *[other] { $count } cells have no measured baselines, or were not measured themselves
 }
answer-trials = { $count ->
    [one] { $count } trial
   *[other] { $count } trials
 }
answer-no-evidence = { $ratio } of the baseline: no evidence of a difference
answer-lower = { $ratio } of the baseline: lower
answer-higher = { $ratio } of the baseline: higher
answer-too-few-trials = { $ratio } of the baseline: too few trials to detect a difference

answer-objective-met = its objective is met
answer-objective-violated = its objective is VIOLATED
answer-objective-unknown = its objective could not be judged
answer-objectives-met = all { $total } objectives are met
answer-objectives-unknown = { $count } of { $total } objectives could not be judged
answer-objectives-violated = { $count ->
    [one] { $count } of { $total } objectives is VIOLATED
   *[other] { $count } of { $total } objectives are VIOLATED
 }

answer-trial-valid = its trial is valid
answer-trial-doubtful = its trial is valid with doubts{ $doubts ->
    [none] {""}
   *[other] : { $doubts }
 }
answer-all-trials-valid = all trials are valid
answer-trials-valid = { $valid } of { $total } trials are valid
answer-trials-doubtful = { $valid } of { $total } trials are valid, { $doubtful } of them with doubts{ $doubts ->
    [none] {""}
   *[other] : { $doubts }
 }
answer-worst-doubt = { $text } ({ $trials ->
    [one] in { $trials } trial
   *[other] the worst of { $trials } trials
 })
answer-more-doubts = and { $count ->
    [one] { $count } more doubt
   *[other] { $count } more doubts
 }


### Definitions of terms: term-

term-heading = Terms
term-offered = offered
term-offered-text = Arrivals per second that the schedule demands. In the closed model, transactions per second that the clients start.
term-delivered = delivered
term-delivered-text = Successful transactions per second within the measured window.
term-throughput = throughput
term-throughput-text = Successful transactions per second.
term-tps = tps
term-tps-text = Successful transactions per second: the median of the valid trials.
term-goodput = goodput
term-goodput-text = Successful transactions per second that also met the bound of the objective on response time.
term-response = response
term-response-text = Response time: from the moment at which the transaction was due until its end, with the wait for a free client. This is what a user waits.
term-service = service
term-service-text = Service time: from the moment at which the transaction was sent until its end, without the wait for a free client.
term-p50 = p50
term-p50-text = Median: half of the arrivals take at most this long.
term-p90 = p90
term-p90-text = 90 % of the arrivals take at most this long.
term-p95 = p95
term-p95-text = 95 % of the arrivals take at most this long.
term-p99 = p99
term-p99-text = 99 % of the arrivals take at most this long.
term-p999 = p99.9
term-p999-text = 99.9 % of the arrivals take at most this long.
term-errors = errors
term-errors-text = Failed transactions and those with an unknown outcome; errors/1000 of the transactions sent.
term-failed = failed
term-failed-text = Transactions that failed, or whose outcome is unknown.
term-dropped = dropped
term-dropped-text = Arrivals that were never sent, because the backlog was full, the latency limit had passed, or the feed had no row left.
term-requests = requests
term-requests-text = Transactions or HTTP requests that were sent within the window: the median of the valid trials.
term-replication-lag = max lag
term-replication-lag-text = Longest time until a replica had replayed recent WAL of the primary, as pg_stat_replication.replay_lag reports it: the median of the valid trials.
term-refused = refused
term-refused-text = Connections that the server or a pooler refused, per trial.
term-deadlocks = deadlocks
term-deadlocks-text = Deadlocks per thousand transactions, as the clients or the server's log counted them.
term-served = served
term-served-text = Clients that completed a transaction, of all clients.
term-settling = settling
term-settling-text = Seconds until the rate reached nine tenths of the steady rate after a cold start.
term-cpu = CPU
term-cpu-text = Number of CPUs in use, on average.
term-ratio = ratio
term-ratio-text = Value divided by the value of the baseline: 1 is no change.
term-change = change
term-change-text = Relative difference between the values of the run and of the base; for errors their difference in percentage points.
term-interval = 95 % CI
term-interval-text = Range that contains the true value in 95 % of such measurements.
term-verdict = verdict
term-verdict-text = Of a change: what the evidence shows, judged for all figures together at a false discovery rate of 5 %. Of a run: whether its trials are valid.
term-test = test
term-test-text = Statistical method behind the verdict; explained below the table.
term-outcome = outcome
term-outcome-text = Whether the system sustained the load of the step, and the reason if it did not.
term-trend = trend
term-trend-text = Leak: a resource that is not released grows. Drift: another metric moves. Steady: neither.
term-blocks = blocks
term-blocks-text = Blocks of 8 KiB that a statement found in shared buffers (hit), or not (read).
term-mean = mean
term-mean-text = Sum of the values divided by their number. It can hide a few very slow responses.
term-max = max
term-max-text = Largest value.
term-count = count
term-count-text = Number of arrivals with an answer, or of events of this kind.
term-calls = calls
term-calls-text = Number of executions of the statement within the window.
term-total = total
term-total-text = Execution time of all calls together.
term-share = share
term-share-text = Part of the execution time of all statements.
term-rows = rows
term-rows-text = Number of rows that the statements returned or changed.
term-session-mode = pool mode session
term-session-mode-text = A client keeps its server connection until it disconnects. All features of a session work, but idle clients occupy connections.
term-transaction-mode = pool mode transaction
term-transaction-mode-text = A client has a server connection only during a transaction. Session settings, advisory locks and LISTEN do not survive it.
term-statement-mode = pool mode statement
term-statement-mode-text = A client has a server connection only during a statement. Transactions of several statements are not possible.
term-jain = Jain's index
term-jain-text = Fairness among clients: 1 if all complete equally many transactions, 1/n if one of n clients completes all.


### Page: first screen: overview-

# Sentences of at most 25 words.
overview-one = The system delivers { $rate }{ $offered ->
    [none] {""}
   *[other] {" "}of { $offered } offered
 }{ $p99 ->
    [none] {""}
   *[other] , with a p99 of { $p99 }
 }.
overview-best = { $name } delivers { $rate }, the most of all cells.
overview-difference = { $name } delivers { $rate }: { $ratio } times the { $base } of { $baseline }{ $p99 ->
    [none] {""}
   *[other] ; { $p99 }
 }.
overview-no-difference = There is no evidence that { $name } differs from { $baseline } in throughput{ $p99 ->
    [none] {""}
   *[other] ; { $p99 }
 }.
overview-too-few-trials = Too few trials to detect a difference between { $name } and { $baseline }.
# Pairs of cells. `pairs` are phrases. `verdict`: lower, higher, unknown, few or none. `p99`: the same for the p99.
# `figure`, by which the cells are compared: throughput, p99 or both.
overview-pairs = { $figure ->
    [p99] p99 at the offered load
    [both] Throughput, or p99 at the offered load
   *[throughput] Throughput
 }: { $pairs }.
overview-pairs-dull = no evidence of a difference in { $count ->
    [one] { $count } pair
   *[other] { $count } pairs
 }
overview-pair-phrase = { $verdict ->
    [unknown] no evidence that { $name } differs from { $baseline }
    [few] too few trials to compare { $name } with { $baseline }
    [none] { $name } is not comparable with { $baseline }
   *[other] { $name } is { $ratio }× { $baseline }
 }{ $p99 ->
    [lower] {" "}(p99 lower)
    [higher] {" "}(p99 higher)
   *[none] {""}
 }
overview-pair-line = { $name }: { $figure ->
    [p99] p99{" "}
   *[throughput] {""}
 }{ $ratio }× { $baseline }{ $low ->
    [none] {""}
   *[other] {" "}(95 % CI { $low } to { $high })
 }, { $verdict ->
    [lower] lower
    [higher] higher
    [few] too few trials to detect a difference
   *[unknown] no evidence of a difference
 }{ $p99 ->
    [none] {""}
   *[other] ; { $p99 }
 }.
overview-nothing-comparable = No cell has a throughput that can be compared.
overview-not-compared = { $name } delivers { $rate }; it is not comparable with { $baseline } ({ $base }): { $reason }.
# `kind`: slots, starved, errors, loads or unknown.
overview-obstacle = { $kind ->
    [slots] clients of { $cell } were refused
    [starved] clients of { $cell } starved
    [errors] { $share } of { $cell }'s transactions failed
    [loads] only one of them is open-loop
   *[unknown] a figure is missing
 }
    .requests = { $kind ->
    [slots] clients of { $cell } were refused
    [starved] clients of { $cell } starved
    [errors] { $share } of { $cell }'s requests failed
    [loads] only one of them is open-loop
   *[unknown] a figure is missing
 }
overview-objectives-violated = { $total ->
    [1] The objective is violated.
   *[other] { $count } of { $total } objectives are violated.
 }
overview-maximum = { $name ->
    [none] The system
   *[other] { $name }
 } sustains { $at_least ->
    [true] at least { $level }
   *[other] { $level }
 }{ $limit ->
    [none] {""}
   *[other] . { $proven ->
        [true] Limit
       *[false] Suspected limit
    }: { $limit }
 }.
# Some trials at the level of the maximum failed. `lower` is `overview-mixed-lower`.
overview-mixed = { $name ->
    [none] The system
   *[other] { $name }
 } { $objective ->
    [none] sustained
   *[other] met { $objective } at
 } { $lower ->
    [none] {""}
   *[other] { $lower },{" "}{ $objective ->
        [none] {""}
       *[other] at{" "}
    }
 }{ $level } in { $held } of { $total }{ $lower ->
    [none] {" "}{ $total ->
        [one] trial
       *[other] trials
    }
   *[other] {""}
 }.{ $limit ->
    [none] {""}
   *[other] {" "}{ $proven ->
        [true] Limit
       *[other] Suspected limit
    }: { $limit }.
 }
overview-mixed-lower = { $level } in { $total } of { $total ->
    [one] { $total } trial
   *[other] { $total } trials
 }
overview-plateau = { $recommended ->
    [none] {""}
   *[other] { $recommended } is sufficient:{" "}
 }{ $best } has the best { $figure ->
    [maximum] maximum
   *[p99] p99
 }{ $recommended ->
    [none] { $equal ->
        [0] { $others ->
            [0] {""}
            [1] , and the other cell is worse
           *[other] , and each of the { $others } other cells is worse
        }
        [one] ; { $equal } of { $others } others is not shown to be worse{ $fewest ->
            [true] , but needs more resources
           *[other] {""}
        }
       *[other] ; { $equal } of { $others } others are not shown to be worse{ $fewest ->
            [true] , but need more resources
           *[other] {""}
        }
    }
   *[other] , but is not shown to be better
 }.
# `known`: levels that were sustained or not, and the numbers of their trials.
overview-searching = The search{ $name ->
    [none] {""}
   *[other] {" "}of { $name }
 } is in progress{ $known ->
    [none] {""}
   *[other] : { $known }
 }.
overview-no-maximum = { $name ->
    [none] No maximum was found
   *[other] No maximum of { $name } was found
 }{ $known ->
    [none] {""}
   *[other] : { $known }
 }.
overview-soak-held = { $level } were held for { $duration }; { $moving ->
    [0] { $unknown ->
        [0] no metric leaks or drifts
       *[other] no leak or drift is visible, but { $unknown } of { $total } trends cannot be judged
    }
    [one] { $moving } metric leaks or drifts
   *[other] { $moving } metrics leak or drift
 }.
overview-soak-failed = { $level } were not sustained for { $duration }.
overview-soak-invalid = It is not known whether { $level } can be sustained: the measurement is invalid.
overview-no-loss = { $name ->
    [none] No
   *[other] { $name }: no
 } acknowledged write was lost in { $failovers ->
    [one] { $failovers } failover
   *[other] { $failovers } failovers
 }{ $time ->
    [none] {""}
   *[other] ; writes stopped for { $time }
 }.
overview-loss = { $name ->
    [none] {""}
   *[other] { $name }:{" "}
 }{ $lost } of { $written } acknowledged writes were lost in { $failovers ->
    [one] { $failovers } failover
   *[other] { $failovers } failovers
 }{ $promised ->
    [true] {""}
   *[other] ; no setting promised that they survive
 }.
overview-loss-unknown = { $name ->
    [none] {""}
   *[other] { $name }:{" "}
 }{ $failovers ->
    [one] { $failovers } failover
   *[other] { $failovers } failovers
 }; { $is_read ->
    [true] no acknowledged write was lost, but this proves nothing yet
   *[false] it is not known whether acknowledged writes were lost
 }.
overview-outage-only = { $name ->
    [none] {""}
   *[other] { $name }:{" "}
 }{ $failovers ->
    [one] { $failovers } failover
   *[other] { $failovers } failovers
 }{ $time ->
    [none] {""}
   *[other] ; writes stopped for { $time }
 }. Lost writes were not checked.

# Large figures.
overview-verdict = Verdict
overview-valid = valid
overview-doubtful = valid with doubts
overview-invalid = invalid
overview-valid-trials = { $valid } of { $total } trials valid
overview-objective = { $count ->
    [one] Objective
   *[other] Objectives
 }
overview-met = met
overview-violated = violated
overview-undecided = undecided
overview-all-objectives = all { $total }
overview-objectives = { $count } of { $total }
overview-interval = 95 % CI { $low } to { $high }
overview-ratio = { $ratio } of the baseline{ $low ->
    [none] {""}
   *[other] {" "}(95 % CI { $low } to { $high })
 }
overview-pair = { $name } vs { $baseline }
overview-pair-ratio = { $figure ->
    [p99] p99{" "}
   *[throughput] {""}
 }{ $ratio }×
overview-pair-detail = { $low ->
    [none] {""}
   *[other] 95 % CI { $low } to { $high }
 }{ $verdict ->
    [unknown] { $low ->
        [none] no evidence of a difference
       *[other] , no evidence of a difference
    }
    [few] { $low ->
        [none] {""}
       *[other] ;{" "}
    }{ $count ->
        [one] { $count } trial: too few to compare
       *[other] { $count } trials: too few to compare
    }
   *[other] {""}
 }
overview-pair-not-compared = not comparable: { $reason }
overview-pair-p99 = p99 { $p99 }{ $base ->
    [none] {""}
   *[other] {" "}vs { $base }
 }{ $verdict ->
    [lower] , lower
    [higher] , higher
   *[none] {""}
 }
overview-few-trials = { $count ->
    [one] { $count } trial: too few to compare
   *[other] { $count } trials: too few to compare
 }
overview-baseline = { $name } (baseline)
overview-throughput = Throughput
overview-offered = of { $offered } offered
overview-p99 = p99 of the response time
# `verdict`: met, violated or undecided.
overview-objective-verdict = { $objective }: { $verdict ->
    [met] met
    [violated] violated
   *[undecided] undecided
 }
overview-p99-baseline = { $name } { $p99 }
overview-errors = Errors{ $count ->
    [1] {""}
   *[other] , worst of { $count } trials
 }
overview-outage-seen = no success for { $time }
overview-clients-unserved = clients without any success
overview-errors-count = { $count ->
    [0] no failed or dropped arrivals
    [one] { $count } dropped arrival
   *[other] { $count } dropped arrivals
 }
overview-sustained = Maximum sustained
# `metric` as in an objective: p95, max or `buy: p99`.
overview-time-holds = Highest { $metric } at this load
overview-objective-holds = { $objective }: met in { $met } of { $total ->
    [one] { $total } confirmation
   *[other] { $total } confirmations
 }
overview-holds = { $held } of { $total } confirmations met the objectives
overview-sustained-bracket = Highest load sustained
overview-failed-bracket = Lowest load not sustained
overview-bracket-trials = sustained in { $sustained } of { $total ->
    [one] { $total } trial
   *[other] { $total } trials
 }
overview-plateau-recommended = Recommended cell
overview-plateau-best = Best cell
overview-plateau-fewest = fewest resources of the cells not shown to be worse than the best
overview-plateau-size = Cells not shown to be worse
overview-plateau-others = of { $total ->
    [one] { $total } other cell
   *[other] { $total } other cells
 }
overview-plateau-value-best = { $figure }: { $name }
overview-level = Load
# `outcome`: sustained, failed or invalid.
overview-level-outcome = { $outcome ->
    [sustained] sustained for { $duration }
    [failed] not sustained for { $duration }
   *[invalid] no valid result in { $duration }
 }{ $share ->
    [none] {""}
   *[other] ; { $share } of the maximum
 }
overview-trends = Leaks and drifts
overview-trends-of = in { $total ->
    [one] { $total } metric
   *[other] { $total } metrics
 }{ $unknown ->
    [0] {""}
   *[other] ; { $unknown } not judged
 }
overview-lost-writes = Lost writes
overview-of-acknowledged = of { $written } acknowledged
overview-outage = Write outage{ $is_new ->
    [true] {" "}of a new client
   *[false] {""}
 }, median
overview-at-most = at most { $time }
overview-failovers = Failovers
overview-loss-bound = 95 % CI: fewer than { $share } lose writes
overview-trials = { $count ->
    [one] in { $count } trial
   *[other] in { $count } trials
 }
overview-control = { $lost ->
    [0] the positive control lost nothing, so losses may not be detected
   *[other] the positive control lost { $lost }, so losses are detected
 }

# Picture.
overview-response = Response time
overview-mean = Mean response time
overview-metric = { $metric } of the response time
overview-pair-axis = { $figure ->
    [p99] p99
    [both] Throughput or p99
   *[throughput] Throughput
 }, relative to the baseline
overview-pair-equal = equal
overview-offered-rate = Offered rate
overview-fault = fault
overview-seconds-after-fault = Time since the fault
# `unit`: s, min or h.
overview-elapsed = Elapsed time, { $unit ->
    [h] h
    [min] min
   *[s] s
 }
overview-caption-soak = { $quantile } of the response time during the { $duration } at { $level }
overview-caption-quantiles = Response time of { $count ->
    [one] { $count } arrival
   *[other] { $count } arrivals
 }, by quantile{ $unanswered ->
    [0] {""}
   *[other] ; { $unanswered } had no answer
 }
overview-caption-cells = Throughput of each cell: median of its trials, with the 95 % CI
overview-caption-medians = Throughput of each cell: median of its trials
overview-caption-pairs = { $figure ->
    [p99] p99
    [both] Throughput or p99
   *[throughput] Throughput
 } of each cell relative to its baseline, with the 95 % CI
overview-caption-pair-medians = { $figure ->
    [p99] p99
    [both] Throughput or p99
   *[throughput] Throughput
 } of each cell relative to its baseline
overview-caption-plateau = { $figure } of each cell, with the 95 % CI
overview-caption-steps = { $metric } at each of { $count ->
    [one] { $count } measured load
   *[other] { $count } measured loads
 }: sustained (green), not sustained (red) or invalid (grey)
overview-caption-means = Mean response time at each of { $count ->
    [one] { $count } measured load
   *[other] { $count } measured loads
 }: sustained (green), not sustained (red) or invalid (grey)
overview-caption-faults = Successful transactions per second around the fault, in { $count ->
    [one] { $count } trial
   *[other] { $count } trials
 }
    .requests = Successful requests per second around the fault, in { $count ->
        [one] { $count } trial
       *[other] { $count } trials
     }

overview-more-doubts = { $count ->
    [one] { $count } more doubt
   *[other] { $count } more doubts
 }


### Last lines of a command: closing-

closing-verdict = Verdict: { $verdict } ({ $trials })
closing-next = Next:
# Purposes of commands.
closing-report = the report with charts and findings
closing-compare = what changed since the previous run
closing-resume = measure the rest


### Live display: live-

# Lines about the run.
live-run-begins = { $trials ->
    [one] { $trials } trial
   *[other] { $trials } trials
 } of { $cells ->
    [one] { $cells } cell
   *[other] { $cells } cells
 } in the order of seed { $seed }; about { $duration } under load
live-search-begins = searching for the maximum of { $cells ->
    [1] one cell
   *[other] { $cells } cells
 }, seed { $seed }; { $duration } under load per step
live-cause-failover = now: cause the failover
live-note = note: { $text }
live-scraped = Prometheus can scrape { $url }
live-broken-off = the run was aborted: { $reason }
live-kept = { $path } after { $duration }

# Activities.
live-setting-up = setting up
live-fetching = fetching PostgreSQL { $major }
live-starting = starting { $node }
live-dropping = dropping earlier data
live-loading = loading: { $sent } of { $total ->
    [one] { $total } row
   *[other] { $total } rows
 }
live-keys = building keys and indexes
live-restoring-dump = restoring the dump
live-reading-source = reading the source database
live-statistics = collecting statistics
live-restored = data restored in { $time }
live-data-unchanged = data unchanged: nothing was written
live-warmed = the caches are ready
live-awaiting-failover = the load has ended, waiting for the failover
live-undoing = running { $command }
live-warming-up = warming up
live-measuring = { $second } of { $total } s

# Milestones.
live-ready = { $node } is ready after { $time }
live-already-loaded = { $rows ->
    [one] { $rows } row is
   *[other] { $rows } rows are
 } already loaded
live-loaded = { $rows ->
    [one] { $rows } row
   *[other] { $rows } rows
 } loaded in { $time }, { $rate } per second
live-data-reused = data of an earlier run reused: { $size } copied from the cache, server ready in { $time }
live-data-stored = loaded data stored in the cache for later runs: { $size } in { $time }
live-source-read = { $database } at { $address } read as of { $at }: dump of { $size }
live-sampled = { $table }: { $kept } of { $total ->
    [one] { $total } row
   *[other] { $total } rows
 } kept ({ $percent } %)
live-cache-not-cold = caches stay warm: pgdyno controls neither the server nor its files
live-directory-removed = removed { $directory }, left by a run that was killed
live-directory-retained = { $directory }, left by a run that was killed, is not removed: { $reason }
live-in-use = process { $pid } ({ $program }) uses it
live-not-inspectable = process { $pid } ({ $program }) cannot be inspected and may be using it
live-control-groups = its control groups cannot be removed
live-mount-or-socket = { $path } is mounted or listened on

# Results of trials.
live-held = { $figures }: sustained
live-too-much = { $figures }: not sustained: { $reason }
live-not-counted = { $figures }: does not count{ $reason ->
    [none] {""}
   *[other] : { $reason }
 }
live-stopped = { $figures }, stopped by { $rule } after second { $second }
live-interrupted = { $figures ->
    [none] interrupted before it began
   *[other] { $figures }, interrupted
 }
live-skipped = skipped: { $reason }
live-failed-trial = failed: { $reason }

# Headings of rows, at most 10 columns.
live-completed = rate
live-processors = CPU

# Figures.
live-rate = { $rate } tps
    .requests = { $rate } requests/s
live-failed = { $count } failed
live-dropped = { $count } dropped
live-refused = { $count } refused
live-in-flight = { $count } in flight
live-waiting = { $count } waiting
live-servers-busy = { $count } servers busy
live-cpu-used = { $node } { $used }{ $quota ->
    [none] {""}
   *[other] {" "}of { $quota }
 }
live-left = about { $duration } left
live-search-left = ends in about { $duration }
live-step = step { $number }; the number of steps depends on the results
live-step-between = step { $number }; the maximum is between { $low } and { $high }
live-step-above = step { $number }; { $level } sustained so far
live-step-below = step { $number }; { $level } not sustained
live-objectives = objectives: { $list }
live-objectives-quantile = objectives: { $list }; { $metric } { $time } in the last { $seconds } s

# Strip of current values on the live page.
live-now-rate = Rate, last second
live-now-quantile-detail = last { $seconds } s{ $objective ->
    [none] {""}
   *[other] ; { $objective }
 }
live-now-no-quantile = { $is_outage ->
    [true] nothing was answered
   *[false] too few transactions
 }{ $objective ->
    [none] {""}
   *[other] ; { $objective }
 }
live-now-errors = Errors, last second
live-now-elapsed = Elapsed
live-now-silence = no measurement for { $duration }
live-now-open-end = the number of steps depends on the results
live-level-rate = { $rate } per second
live-level-clients = { $count ->
    [one] { $count } client
   *[other] { $count } clients
 }
live-lines-lost = ({ $count ->
    [one] { $count } line
   *[other] { $count } lines
 } dropped from the display)


### Directory of runs: words of its script: list-, words in the bar of a page: bar-

list-title = Runs
list-run = Run
list-experiment = Experiment
list-state = State
list-begun = Started (UTC)
list-cells = Cells
list-trials = Trials
list-size = Size
list-headline = Answer
list-filter = Filter
list-all = all
list-select = Select
list-base = baseline
list-compare = Compare
list-compare_help = Select two or more runs; the oldest one is the baseline.
list-reload = Reload
list-none = No run matches.
bar-all_runs = All runs
bar-one_file = Save as a file


### Directory of runs: serve-

serve-token = Token
serve-log-in = Log in
serve-wants-token = This server requires the token with which it was started.
serve-wrong-token = That is not this server's token.
serve-unknown-run = There is no such run.
serve-ended = This run has ended already.
serve-reader-failed = it could not be read; standard error says why
serve-no-trial = the run has no trial { $trial }
serve-no-cell = trial { $trial } belongs to no cell of the experiment
serve-busy = Too many requests at once; try again in a moment.
serve-foreign-request = The request was not sent from a page of this server; open the page again.
serve-unreadable = The run cannot be read: { $reason }
serve-measuring = Trial { $trial }{ $total ->
    [none] {""}
   *[other] {" "}of { $total }
 } has been measured for { $seconds } s
serve-setting-up = Trial { $trial }{ $total ->
    [none] {""}
   *[other] {" "}of { $total }
 } is being set up
serve-stopping = The run is stopping; results measured so far are kept.

# Notification of the end of a run.
notification-title = { $run }: { $state }
webhook-no-url = { $source } does not contain the URL of a webhook
webhook-no-url-hint = write one line such as { $example }, without a user name
webhook-sent = The answer was sent to the webhook at { $host }.
webhook-failed = the webhook at { $host } was not notified: { $error }

# States of runs.
serve-running = running
serve-complete = complete
serve-interrupted = interrupted
serve-stopped = stopped by a rule
serve-failed = failed
serve-skipped = skipped
serve-lost = lost: its process was killed


### Search for the maximum: search-

# Sections.
search-heading-maximum = Maximum and its limiter
search-heading-scalability = Throughput by number of clients
search-heading-soak = Soak
search-heading-plateau = Sufficient settings
search-caption-steps = Steps of the search
search-caption-perturbations = Perturbations

# Columns.
search-column-stage = stage
search-column-round = search
search-column-delivered = delivered/s
search-column-p99 = p99, ms
search-column-mean = mean, ms
search-column-window = duration
search-column-outcome = outcome
search-column-changed = perturbation
search-column-base-maximum = maximum before
search-column-new-maximum = maximum after
search-column-ratio = ratio
search-column-elasticity = elasticity
search-column-verdict = verdict
search-column-clients = clients
search-column-measured = measured/s
search-column-law = predicted/s
search-column-metric = metric
search-column-from = at the start
search-column-to = at the end
search-column-per-hour = per hour (95 % CI)
search-column-trend = trend
search-column-cell = cell
search-column-cell-maximum = maximum (95 % CI)
search-column-cell-p99 = p99, ms (95 % CI)
search-column-plateau = on the plateau
search-plateau-yes = yes
search-plateau-best = yes, best
search-plateau-recommended = yes, recommended
search-no-answer = no answer

# Headings of levels.
search-scale-rate = arrivals/s
search-scale-clients = clients

search-step-ramp = ramp
search-step-rest = rest
search-step-narrow = narrowing
search-step-hold = hold at the answer
search-step-confirm = confirmation
search-step-soak = soak

# `level` is a count or a decimal.
search-level-rate = { $level ->
    [one] { $level } arrival per second
   *[other] { $level } arrivals per second
 }
search-level-clients = { $clients ->
    [one] { $clients } client
   *[other] { $clients } clients
 }
# Levels as the object of "holds".
search-sustained-rate = { $level ->
    [one] { $level } arrival per second
   *[other] { $level } arrivals per second
 }
search-sustained-clients = { $clients ->
    [one] { $clients } client
   *[other] { $clients } clients
 }

search-outcome-held = sustained
search-outcome-invalid = invalid: { $reason }
search-outcome-not-judged = not judged: { $reason }

# Reasons why a level is not sustained.
search-overload-objective = { $objective } is violated
search-overload-behind = only { $share } of the offered load is delivered
search-overload-clients = all { $clients } clients are busy; further clients would only wait
search-overload-in-flight = in-flight transactions grow by { $rate } per second
    .requests = in-flight requests grow by { $rate } per second
search-overload-rule = stop rule { $rule } fires

# Reasons why a search stopped before the maximum, after "because".
search-stop-generator = the generator was late or saturated
search-stop-agents-limit = the agents were late or saturated ({ $agents ->
    [one] { $agents } agent
   *[other] { $agents } agents
}{ $busy ->
    [none] {""}
   *[other] , busiest thread { $busy }
})
search-stop-host = this machine was busy with other work: a late thread of the generator waited for a CPU { $share } of the time
search-stop-descriptors = file descriptors or local ports were exhausted
search-stop-client-cap = the in-flight cap ({ $clients }) was reached, so the test was no longer open-loop
search-stop-max-level = no level above { $level } was tried
search-stop-min-level = not even { $level } was sustained
search-stop-feed-end = a feed was exhausted
search-stop-unmeasured = { $objective }
search-stop-suspended = suspended
search-stop-aborted = clients aborted
search-stop-few-samples = { $objective ->
    [none] a judgement of the delivered load
   *[other] a judgement of { $objective }
 } needs { $needed } samples, but there were { $samples }
search-stop-undecided = the system sustains { $level } in some trials and not in others

# Limits, as subjects of sentences.
search-limit-cpu = the CPU of { $node }
search-limit-reads = disk reads of { $node }
search-limit-writes = disk writes of { $node }
search-limit-wal = WAL flushes
search-limit-sync-replicas = waits for synchronous replicas
search-limit-memory = the memory of { $node }
search-limit-pool = the pool of { $node }
search-limit-pool-setting = { $setting } of { $node }
search-limit-service-pool = the connection pool of the service { $node }
search-limit-service-threads = the threads of the service { $node }
search-limit-service = the inside of the service { $node }
search-limit-slots = the connection slots of { $node }
search-limit-role-connections = the CONNECTION LIMIT of the role
search-limit-database-connections = the CONNECTION LIMIT of the database
search-limit-row-locks = row locks{ $statement ->
    [none] {""}
   *[other] {" "}in { $statement }
 }
# `lock` is a text with a name that begins with `search-locks-`.
search-limit-locks = { $lock }{ $statement ->
    [none] {""}
   *[other] {" "}in { $statement }
 }
search-locks-advisory = advisory locks
search-locks-relation = table locks
search-locks-extend = locks to extend a table or an index
search-locks-object = locks of database objects
search-locks-buffer-pin = pinned buffers
search-locks-heavyweight = locks of the kind { $name }
search-locks-lightweight = the lightweight lock { $name }
search-work-temporary-files = temporary files of sorts and hashes that exceed work_mem
search-work-jit = just-in-time compilation
search-work-planning = planning of statements
search-work-logins = logins
search-work-empty-pages = almost empty pages of { $table }
search-work-subtransactions = subtransactions (savepoints or exception blocks)
search-work-dead-rows = dead row versions of { $table }
search-work-old-statistics = plans from old statistics of { $table }
search-work-old-snapshot = row versions that an old snapshot keeps
search-work-autovacuum = autovacuum
search-work-large-values = large values of { $table } (TOAST)
search-work-discarded-rows = reading many rows of { $table } through indexes
search-work-unused-indexes = unused indexes of { $table }
search-work-function = the function { $function }
search-work-foreign-key = scans of { $table } for each deletion of a referenced row, because the foreign key ({ $columns }) has no index
search-work-skipped-rows = rows of { $table } that OFFSET skips
search-work-repeated-statement = a statement that each transaction executes many times
search-work-large-result = a query that returns many rows
search-work-generic-plans = sequential scans of { $table }, which plans for the values of the parameters would avoid
search-work-condition = sequential scans of { $table } because of { $obstacle }
search-limit-idle-transactions = sessions that are idle in transaction
search-limit-result-reading = clients that read results slowly
search-limit-delayed-acknowledgements = delayed acknowledgements of TCP
search-limit-scan = sequential scans of { $table }{ $ddl ->
    [none] {""}
   *[other] {" "}(missing index: { $ddl })
 }
search-limit-checkpoints = checkpoints
search-limit-conflicts = conflicts between transactions { $is_deadlock ->
    [true] (deadlocks)
   *[false] (serialization failures)
 }
search-limit-clients = the number of clients
search-limit-client-cap = the in-flight cap
search-limit-feed = the feed { $feed }, which fits in the cache
search-limit-host = the CPUs of this machine
search-limit-generator = the generator
# `limits` are joined by `search-limit-and`.
search-limit-together = { $limits } together
search-limit-and = {" "}and{" "}

# Settings that a search changes to find the cause.
search-knob-cpu = CPUs of { $node }
search-knob-read-iops = read IOPS of { $node }
search-knob-write-iops = write IOPS of { $node }
search-knob-memory = memory of { $node }
search-knob-pool = pool size of { $node }
search-knob-environment = { $variable } of { $node }
search-knob-slots = max_connections of { $node }
search-knob-clients = clients
search-knob-connections = connections kept open
search-knob-feed-rows = rows of the feed { $feed }
search-proof-limits = limits
search-proof-does-not-limit = does not limit
search-proof-undecided = undecided

# `path`: nodes from the first to PostgreSQL.
search-question-maximum = How much load does { $path ->
    [none] each cell
   *[other] { $path }
 } sustain at most, and what limits it?
search-question-soak = Does { $path ->
    [none] each cell
   *[other] { $path }
 } sustain its load for a long time, and does anything leak or drift?
search-question-plateau = Which settings are sufficient?

search-unfinished = the search has not finished
search-unanswered = no answer, because { $reason }{ $known ->
    [none] {""}
   *[other] ; { $known }
 }{ $suspect ->
    [none] {""}
   *[other] ; suspected: { $suspect }
 }.
search-answer = sustains { $at_least ->
    [true] at least{" "}
   *[false] {""}
 }{ $level }{ $certainty ->
    [none] {""}
   *[other] {" "}({ $certainty })
 }{ $delivered ->
    [none] {""}
    [one] {" "}with { $delivered } transaction per second
   *[other] {" "}with { $delivered } transactions per second
 }, { $cause }{ $beyond ->
    [none] {""}
   *[other] ; { $beyond }
 }.
search-interval = 95 % CI { $low }–{ $high }
search-searches = { $count ->
    [one] { $count } search
   *[other] { $count } searches
 }
search-confirmed = confirmed in { $held } of { $total ->
    [one] { $total } trial
   *[other] { $total } trials
 }
search-beyond-unknown = higher levels are unknown: { $reason }
search-beyond-overload = above it, { $reason }{ $failed ->
    [none] {""}
   *[other] {" "}({ $failed })
 }
search-level-trials = { $level } sustained in { $held } of { $total ->
    [one] { $total } trial
   *[other] { $total } trials
 }
search-remedy-generator = Give the generator more threads, or a machine of its own.
search-remedy-agents = Use { $all } agents or more, which is { $more } more, with as many `threads` each as now; or write `agents: auto`.
search-remedy-host = Stop other programs on this machine, or run the generator on another one.
search-remedy-descriptors = Raise the limit on open files, or widen the range of local ports; `pgdyno doctor` shows both.
search-remedy-client-cap = Raise `max_in_flight`.
search-remedy-few-samples = Choose a longer `window`.
search-remedy-max-level = Raise the limit of the search.
search-remedy-min-level = Start the search at a lower level. If the system is as slow at any level, change the system or the objective.
# `consumer`: work that saturates the CPU.
search-cause-proven = limited by { $limit }{ $proof ->
    [none] {""}
   *[other] {" "}({ $proof })
 }{ $consumer ->
    [none] {""}
   *[other] , saturated by { $consumer }
 }
search-cause-elasticity = elasticity { $value }
search-cause-feed = with rows of the whole table, the maximum is { $ratio } times as high
search-cause-switch = without this limit, the maximum is { $ratio } times as high
search-cause-suspected = limiter not proven; suspected: { $limit }{ $tested ->
    [none] {""}
   *[other] {" "}({ $tested })
 }
# What to do about a limiter.
search-do-cpu = Give { $node } more CPUs, or let it do less work per transaction.
search-do-reads = Give { $node } enough memory for the data in use, or a disk with more reads per second.
search-do-writes = Write less per transaction, or give { $node } a disk with more writes per second.
search-do-wal = Put WAL on a disk with faster flushes, or combine several changes into one transaction. Where the last commits may be lost, set `synchronous_commit = off`.
search-do-sync-replicas = Give the replicas faster disks and a shorter network path, or choose a weaker `synchronous_commit` for transactions that may be lost.
search-do-memory = Give { $node } more memory, or let transactions read fewer blocks.
search-do-pool = Enlarge the pool of { $node }, or shorten the transactions that hold its connections.
search-do-pool-setting = Raise { $setting } of { $node }, or shorten the transactions that hold its connections.
search-do-service-pool = Enlarge the connection pool of { $node }, or shorten the time for which requests hold a connection.
search-do-service-threads = Give { $node } more threads, or shorten its requests.
search-do-service = Look inside { $node }, at its locks, queues and calls. If it reports its pools and threads (`stats`), pgdyno can name them.
search-do-slots = Use fewer connections, for example through a pooler, or raise `max_connections`.
search-do-role-connections = Use fewer connections, for example through a pooler, or raise the role's limit with { $command }.
search-do-database-connections = Use fewer connections, for example through a pooler, or raise the database's limit with { $command }.
search-do-row-locks = Shorten the time from the change of the row to the commit, or spread the changes over several rows. If the waits are between SELECT … FOR UPDATE and foreign-key checks, use FOR NO KEY UPDATE.
search-do-locks-advisory = Shorten the time for which the application holds the advisory lock, or use one lock per key.
search-do-locks-relation = Do not lock whole tables or other objects under load, or shorten the transactions that do.
search-do-locks-extend = Insert in larger batches, or with fewer sessions.
search-do-locks-buffer-pin = Close cursors early, and do not leave statements unfinished.
search-do-locks-heavyweight = Shorten the transactions that hold this lock.
search-do-locks-lightweight = Use fewer concurrent sessions, for example a smaller pool.
search-do-locks-lock-manager = Let statements lock fewer relations: plan for one partition instead of all, drop unused indexes, or use fewer concurrent sessions.
search-do-locks-wal-insert = Write less WAL: fewer indexes, larger batches, COPY instead of INSERT, wider intervals between checkpoints.
search-do-locks-buffer-mapping = Raise `shared_buffers`, or let transactions read fewer different pages.
search-do-locks-proc-array = Use fewer sessions, for example through a pooler in transaction mode, and fewer, longer transactions.
search-do-locks-subtransactions = Use fewer than 64 savepoints or exception blocks per transaction, and end long transactions.
search-do-locks-multixacts = Avoid many transactions that lock the same row FOR SHARE or by a foreign key.
search-do-locks-buffer-content = Many sessions change the same page, such as the last page of an index: use values that do not ascend, or partitions.
search-do-temporary-files = Raise `work_mem` for these statements, or let them sort and hash fewer rows.
search-do-jit = Set `jit = off`, or raise `jit_above_cost`.
search-do-planning = Use prepared statements, fewer partitions, or simpler statements.
search-do-logins = Keep connections open, or put a pooler in front of PostgreSQL.
search-do-empty-pages = VACUUM FULL { $table }, which locks it exclusively, or pg_repack. Afterwards delete fewer rows at once, or drop partitions instead.
search-do-subtransactions = Avoid the exception, for example with ON CONFLICT DO NOTHING, or use one savepoint for many rows.
search-do-dead-rows = VACUUM FULL { $table }, then let autovacuum run more often on it, and end the transactions that hold it back.
search-do-old-statistics = ANALYZE { $table } after large changes, or lower its autovacuum_analyze_scale_factor.
search-do-old-snapshot = End long transactions, also those of reports and backups, or run them on a replica.
search-do-autovacuum = Spread the work of autovacuum over time: raise autovacuum_vacuum_cost_delay, or vacuum large tables while the load is low.
search-do-large-values = Do not read large columns where they are not needed, keep them outside of the table, or compress them with lz4.
search-do-discarded-rows = Let the statements read fewer rows of { $table }: store sums or current states instead of computing them for each query, or add an index on all columns of the condition (`pgdyno advise` finds candidates). VACUUM (ANALYZE) helps if estimates are wrong or an index-only scan is possible.
search-do-unused-indexes = Drop the indexes that no statement uses, also on other servers with this table.
search-do-function = Find the slow statements of the function with auto_explain (`auto_explain.log_nested_statements`), or do its work outside of the transaction.
search-do-foreign-key = Create an index on { $table } ({ $columns }).
search-do-skipped-rows = Select the next page by the last key of the previous one (`WHERE id > $1 ORDER BY id LIMIT 20`) instead of OFFSET, which reads all rows before the page.
search-do-repeated-statement = Fetch these rows with one statement, such as a join or `WHERE id = ANY($1)`, or send the statements in a pipeline or a batch.
search-do-large-result = Return fewer rows: pages, sums computed by the database, or only the rows that changed.
search-do-generic-plans = Set `plan_cache_mode = force_custom_plan` for these statements, or do not prepare them: a generic plan cannot use what the values of the parameters allow.
search-do-condition = Change the statement: { $remedy }.
search-do-idle-transactions = Let the application commit before it waits for anything else, and set `idle_in_transaction_session_timeout`.
search-do-result-reading = Return fewer rows and columns, read results faster, or use a faster network.
search-do-delayed-acknowledgements = Set TCP_NODELAY in the client and in the service, and send each request in one write.
search-do-scan = { $ddl ->
    [none] Let the statement read fewer rows, for example with a better condition or a summary table.
   *[other] Create the index: { $ddl }.
 }
search-do-checkpoints = Raise `max_wal_size`, so that checkpoints become rarer; `wal_compression` makes the full-page writes after them smaller.
search-do-conflicts = { $is_deadlock ->
    [true] Lock the rows in the same order in all transactions, and make the transactions shorter.
   *[false] Make the transactions shorter, let them read fewer rows through indexes, use a weaker isolation level where the rules of the application allow it, or repeat failed transactions more often (`max_tries`).
 }
search-do-clients = Use more clients, or the open model.
search-do-feed = Use a feed whose values cover the data that users request.
search-do-host = Give the stack more CPUs, or run the generator on another machine.
search-excluded = Excluded by a perturbation: { $limits }.
search-gain = Tried: { $perturbation } gives a maximum { $ratio } times as high.
search-other-limits = Also a limiter by a perturbation: { $limits }.
# A suspect with the throughput of overloaded levels.
search-saturation = { $limit }: { $delivered } per second however much is offered ({ $offered } per second)
search-offered-range = { $low } to { $high }
search-cause-undecided = tested, undecided: { $perturbation }{ $ratio ->
    [none] {""}
   *[other] {" "}gives a maximum { $ratio } times as high
 }
search-cause-unknown = limiter not proven
search-answered-cells = { $answered } of { $cells ->
    [one] { $cells } cell
   *[other] { $cells } cells
 } have an answer
search-rounds = Answers of the individual searches: { $levels }.
search-window = { $window } per step{ $warmup ->
    [none] {""}
   *[other] {" "}after { $warmup } of warm-up
 }, { $hold } at the answer{ $repeat ->
    [1] {""}
   *[other] , searched { $repeat } times
 }
search-effort = { $trials ->
    [one] { $trials } trial
   *[other] { $trials } trials
 }, { $duration } under load.

search-law = By the Universal Scalability Law, a single client delivers λ = { $lambda } per second; contention σ = { $sigma }, coherency κ = { $kappa }. { $peak ->
    [none] The peak lies outside the measured range, and the law is not extrapolated
    [one] Throughput peaks at { $peak } client
   *[other] Throughput peaks at { $peak } clients
 }. The law explains { $variance } of the variance.

# `share`: share of the maximum.
search-soak-held = sustained { $level }{ $share ->
    [none] {""}
   *[other] {" "}({ $share } of the maximum)
 } for { $duration }
search-soak-failed = did not sustain { $level }{ $share ->
    [none] {""}
   *[other] {" "}({ $share } of the maximum)
 } for { $duration }: { $reason }
search-soak-invalid = no answer at { $level }{ $share ->
    [none] {""}
   *[other] {" "}({ $share } of the maximum)
 }, because { $reason }
search-soak-leaks = leaks: { $metrics }
search-soak-drifts = drifts: { $metrics }
search-soak-steady = { $unknown ->
    [0] no leak or drift
   *[other] no leak or drift is visible, but { $unknown } of { $trends ->
        [one] { $trends } trend
       *[other] { $trends } trends
     } cannot be judged
 }
search-soak-low-level = At { $share } of the maximum this proves little: leaks and drifts that grow with the load may not have appeared.
search-trend-memory = memory of { $node }
search-trend-median = median response time
search-trend-p99 = p99 response time
search-trend-connections = connections of { $node }
search-trend-dead-rows = dead rows of { $table ->
    [none] all tables
   *[other] { $table }
 }
search-trend-size = size of { $table ->
    [none] the database
   *[other] { $table }
 }
search-trend-throughput = throughput
search-trend-files = open files of { $node }
search-trend-leak = leak
search-trend-drift = drift
search-trend-steady = steady
search-trend-unknown = cannot be judged

# `figure`: maximum or p99. `recommended`: a cell on the plateau that takes less than the best.
search-plateau = { $recommended ->
    [none] {""}
   *[other] { $recommended } is sufficient:{" "}
 }{ $best } has the best { $figure ->
    [maximum] maximum
   *[p99] p99
 }{ $others ->
    [none] {""}
   *[other] , { $others }
 }{ $recommended ->
    [none] {""}
   *[other] , and { $recommended } needs the fewest resources of them
 }.
search-plateau-beats = and is shown to be better than { $others ->
    [1] the other one
   *[other] each of the others
 }
search-plateau-beats-none = but is not shown to be better than { $others ->
    [1] the other one
   *[other] any of the { $others } others
 }
search-plateau-beats-some = but is not shown to be better than { $equal } of the { $others } others
# `rate` and `processors` are counts or decimals.
search-connections = { $rate ->
    [one] { $rate } transaction per second that holds a connection for { $hold_time } needs
   *[other] { $rate } transactions per second that each hold a connection for { $hold_time } need
 } { $connections } connections on average (Little's law); PostgreSQL has { $processors ->
    [one] { $processors } CPU
   *[other] { $processors } CPUs
 }.


### Failover: failover-

failover-heading = Failover
failover-caption-anomalies = Anomalies
failover-column-cell = cell
failover-column-conclusion = promise
failover-column-failovers = failovers
failover-column-acknowledged = acknowledged
failover-column-lost = lost
failover-column-lost-locally = lost after a warning
# Unknown writes, and those of them that exist.
failover-column-unknown = unknown (present)
failover-column-refused = refused
failover-column-misrouted = misrouted
failover-column-outage = { $is_read ->
    [true] read
   *[false] write
 } outage { $is_new ->
    [true] (new client)
   *[false] (connected)
 }
failover-column-phase = phase
failover-column-lag = longest lag
failover-phases = before, during and after the faults
failover-phase-before = before
failover-phase-during = during
failover-phase-after = after
failover-phases-note = by second. A second is during a fault if the fault was in effect, no server had been promoted, no transaction succeeded, or some client was not yet served again. The lag is that of the replicas, sampled once per second
failover-column-promoted = promoted after
failover-column-healthy = healthy after
failover-column-rejoined = old primary back within
failover-column-control = lost by the control
failover-column-anomaly = anomaly
failover-column-count = count
failover-column-meaning = meaning
# The first lost writes.
failover-column-examples = session/sequence

# `path`: nodes from the first to PostgreSQL.
failover-question = Does every { $path ->
    [none] acknowledged write
   *[other] write that { $path } acknowledges
 } survive a failover, and how long is the write outage?

failover-lost = { $lost } of { $acknowledged ->
    [one] { $acknowledged } acknowledged write
   *[other] { $acknowledged } acknowledged writes
 } lost { $failovers ->
    [0] without a failover
    [one] in { $failovers } failover
   *[other] in { $failovers } failovers
 }
failover-loss-unknown = of { $acknowledged ->
    [one] { $acknowledged } acknowledged write
   *[other] { $acknowledged } acknowledged writes
 }, it is unknown how many were lost { $failovers ->
    [0] without a failover
    [one] in { $failovers } failover
   *[other] in { $failovers } failovers
 }
failover-not-read = not read
failover-no-ledger = { $failovers ->
    [one] { $failovers } failover
   *[other] { $failovers } failovers
 }; no operation has a ledger, so it is unknown what was lost
# `lost` is failover-lost.
failover-lost-nothing = { $lost } (95 % CI: fewer than { $bound } of failovers lose writes)
failover-lost-before = { $lost }: recovery point { $duration }; nothing was promised for these writes
failover-lost-after = { $lost }, all acknowledged within { $duration } after the fault; nothing was promised for these writes
failover-lost-unpromised = { $lost }; nothing was promised for these writes
failover-promise-violated = a promise was broken: { $violations }; { $lost }
failover-not-proven = not proven{ $reason ->
    [none] {""}
   *[other] : { $reason }
 }{ $more ->
    [0] {""}
    [one] , and { $more } more doubt
   *[other] , and { $more } more doubts
 }; { $lost }
failover-anomaly-count = { $anomaly } { $count }
failover-outage = { $is_read ->
    [true] Read
   *[false] Write
 } outage: { $outages }.
# `max`: absent if all outages had the same duration. `wait`: time after new clients were served again.
failover-outage-client = { $median } for { $is_new ->
    [true] a new client
   *[false] a connected client
 }{ $max ->
    [none] {""}
   *[other] {" "}(median, at most { $max })
 }{ $wait ->
    [none] {""}
   *[other] , of which { $wait } were its own timeouts, after new clients could { $is_read ->
        [true] read
       *[false] write
     } again
 }
failover-outage-ongoing = { $trials ->
    [one] not over at the end of the load
   *[other] in { $trials } trials not over at the end of the load
 }
failover-outage-none = none for { $is_new ->
    [true] a new client
   *[false] a connected client
 }

# `result`, `node`, `at`: the first result that differs; absent if there is none.
failover-invariant = { $result ->
    [none] { $readings ->
        [0] No result of the invariant { $query } was read. Before the load, it was { $expected }.
       *[other] { $query } returned { $expected } in all { $readings } readings.
    }
   *[other] { $query } returned { $result } on { $node } after { $at }, instead of { $expected }. The result differed in { $violations } of { $readings } readings.
 }

failover-conclusion-kept = kept
failover-conclusion-violated = broken
failover-conclusion-unknown = not proven

failover-anomaly-lost = lost writes
failover-anomaly-hole = holes
failover-anomaly-invariant = broken invariants
failover-anomaly-flicker = intermittent writes
failover-anomaly-false-failure = false failures
failover-anomaly-phantom = phantom writes
failover-anomaly-duplicate = duplicates
failover-anomaly-reordered = reordered writes
failover-anomaly-split-brain = split-brain writes
failover-anomaly-diverged = diverged writes
failover-anomaly-wrong-promotion = wrong promotions
failover-anomaly-lost-ambiguous = writes lost while the promise changed
failover-anomaly-lost-unpromised = writes lost without a durability guarantee
failover-anomaly-lost-local = writes lost after a warning
failover-anomaly-old-timeline = lost writes on an old timeline
failover-anomaly-retry = duplicates by retries
failover-meaning-lost = missing, although the settings promised to keep them or nothing happened that explains the loss
failover-meaning-hole = missing, although a write that began later on the same server is present
failover-meaning-invariant = results of an invariant that differ from its result before the load
failover-meaning-flicker = present in one read-back and missing in another, with no event between them
failover-meaning-false-failure = refused, but present
failover-meaning-phantom = present, but never sent
failover-meaning-duplicate = present more than once after a single attempt
failover-meaning-reordered = in a list after a write that was sent only after their acknowledgement
failover-meaning-split-brain = acknowledged by the old primary after another server had begun to accept writes
failover-meaning-diverged = missing on the primary, but present on a standby that follows it
failover-meaning-wrong-promotion = a replica was promoted that may have lacked writes
failover-meaning-lost-ambiguous = acknowledged while the promise changed, and missing
failover-meaning-lost-unpromised = acknowledged without a promise to survive the loss of the primary, and missing
failover-meaning-lost-local = acknowledged with the warning that only this server has it, and missing
failover-meaning-old-timeline = missing on the new primary, but present on an old one
failover-meaning-retry = present more than once after several attempts

# Reasons why durability is not proven.
failover-doubt-not-read = nothing was read back
failover-doubt-newer = { $writes ->
    [one] { $writes } acknowledged write is
   *[other] { $writes } acknowledged writes are
 } newer than every read-back
failover-doubt-standby-read = read-back { $reading } came from a standby
failover-doubt-old-timeline = read-back { $reading } came from an old timeline
failover-doubt-other-system = read-back { $reading } came from a server with another system identifier
failover-doubt-standby-acknowledged = a standby acknowledged writes
failover-doubt-systems = servers with different system identifiers acknowledged writes
failover-doubt-no-writes = no write was acknowledged after fault { $fault }
failover-doubt-no-timeline = no other server became the primary after fault { $fault }
failover-doubt-ledger-open = the ledger was not closed and may be incomplete
failover-doubt-ledger-torn = the last { $bytes ->
    [one] { $bytes } byte
   *[other] { $bytes } bytes
 } of the ledger cannot be read
failover-doubt-ledger-contradiction = { $entries ->
    [one] { $entries } entry of the ledger contradicts others
   *[other] { $entries } entries of the ledger contradict others
 }
failover-doubt-ledger-gaps = the ledger lacks the outcome of { $writes ->
    [one] { $writes } write
   *[other] { $writes } writes
 }
failover-doubt-promise-unknown = it is unknown what was promised for { $writes ->
    [one] { $writes } lost write
   *[other] { $writes } lost writes
 }
failover-doubt-promise-changed = writes were lost while the durability guarantee changed
failover-doubt-invariant = no server returned a result of an invariant
failover-doubt-fsync = a server runs with `fsync = off`: a crash of its operating system may lose any write
failover-doubt-no-fault = no fault was injected
failover-doubt-no-control = there was no positive control
failover-doubt-control-lossless = the positive control lost nothing

failover-unresolved-writes = { $writes ->
    [one] { $writes } more write
   *[other] { $writes } more writes
 } may have been sent; this is unknown because the ledger was not closed.
failover-control-lossless = The positive control{ $name ->
    [none] {""}
   *[other] {" "}({ $name })
 } lost nothing in { $trials ->
    [one] { $trials } trial
   *[other] { $trials } trials
 }, so nothing shows that a loss would be detected.
failover-control-lost = The positive control{ $name ->
    [none] {""}
   *[other] {" "}({ $name })
 }, with the same faults and no promise, lost { $lost ->
    [one] { $lost } acknowledged write
   *[other] { $lost } acknowledged writes
 } in { $lossy } of { $trials ->
    [one] { $trials } trial
   *[other] { $trials } trials
 }: losses are detected.
# A time before or after the fault.
failover-moment = { $time } { $before ->
    [true] before
   *[false] after
 }
# `longest`: longest run of lost writes. `first`, `last`: failover-moment.
failover-recovery-point = The largest loss without a promise in one trial is { $writes ->
    [one] { $writes } write
   *[other] { $writes } writes
 } of { $sessions ->
    [one] { $sessions } session
   *[other] { $sessions } sessions
 }, at most { $longest } in a row{ $first ->
    [none] {""}
   *[other] { $last ->
        [none] ; acknowledged { $first } the fault
       *[other] ; acknowledged from { $first } to { $last } the fault
     }
 }.

# Effects of faults on nodes.
failover-fault-kill = killed
failover-fault-kill-postmaster = postmaster killed
failover-fault-kill-manager = { $manager } killed
failover-fault-pause = paused
failover-fault-restart = restarted
failover-fault-switchover = switched over
failover-fault-isolate = isolated from the network
failover-fault-separate = isolated from the other servers
failover-fault-separate-nodes = isolated from some nodes
failover-fault-freeze-disk = disk frozen
failover-fault-shift-clock = clock shifted
failover-fault-fill-disk = disk full
failover-fault-block-replication = replication blocked
failover-fault-run = affected by the command of the experiment
failover-fault-external = affected from outside
failover-dual-primary = { $old } and { $new } were both primaries until { $until }
failover-fault-failed = not injected: { $fault }
failover-fault-injected = { $nodes } { $fault }{ $end ->
    [none] {""}
   *[other] {" "}until { $end }
 }
failover-promoted = { $node } promoted, timeline { $timeline }{ $safe ->
    [false] , may lack writes
   *[other] {""}
 }{ $healthy ->
    [none] {""}
   *[other] , healthy at { $healthy }
 }
failover-rejoined = { $node } rejoined as a replica, { $rewound ->
    [true] rewound
   *[false] copied again
 } within { $duration }
failover-read-back = { $tokens ->
    [one] { $tokens } token
   *[other] { $tokens } tokens
 } read from { $node } { $phase }
failover-read-after-load = after the load
failover-read-after-rejoin = after the old primary rejoined
failover-read-after-restart = after a restart of all servers
failover-no-invariant = the invariants cannot be read before the load: { $error }
failover-no-monitor = cannot monitor the servers: { $error }
failover-ledger-not-written = the ledger cannot be written: { $error }
failover-ledger-ended = the ledger ended before the load: { $error }
failover-load-ended = the load ended before { $left } of { $all } faults were injected
failover-no-new-primary = no server became the primary
failover-no-primary = no server accepts writes
failover-no-read-back = the writes could not be read back: { $error }
failover-event-timeline = timeline { $timeline }
failover-event-rewound = rewound
failover-event-copied = copied again


### Sizes of tables: tables-

tables-heading = Tables
tables-caption = Sizes before the first and after the last trial; growth during a trial, median
tables-column-cell = cell
tables-column-table = table
tables-column-heap-before = table before
tables-column-heap-after = table after
tables-column-indexes-before = indexes before
tables-column-indexes-after = indexes after
tables-column-growth = growth per trial
tables-column-dead = dead rows
tables-column-trials = trials


### Freshness of replicas: freshness-

freshness-heading = Reads on replicas
freshness-column-cell = cell
freshness-column-replica = replica
freshness-column-reads = reads
freshness-column-stale = stale
freshness-column-unanswered = no answer
freshness-column-visible = visible after, { $quantile }
freshness-column-not-visible = not visible within { $bound }

freshness-no-answer = no replica answered the reads of fresh writes
freshness-all-visible = every write was visible immediately after its acknowledgement, in { $reads ->
    [one] { $reads } read
   *[other] { $reads } reads
 } on { $replicas ->
    [one] { $replicas } replica
   *[other] { $replicas } replicas
 } (95 % CI: fewer than { $highest } stale)
freshness-some-stale = a write was not visible immediately after its acknowledgement in { $share } on { $replica }
freshness-round-robin-fresh = A session that read the replicas in turn never saw older data than before, in { $reads ->
    [one] { $reads } read
   *[other] { $reads } reads
 } (95 % CI: fewer than { $highest }).
freshness-round-robin-stale = A session that read the replicas in turn saw older data than before in { $share }.
freshness-remote-apply = With remote_apply a commit waits until every replica has applied it, so no read may be stale; { $kept ->
    [true] none was
   *[false] some were
 }.
freshness-share = { $share } (95 % CI { $low }–{ $high }) of { $reads ->
    [one] { $reads } read
   *[other] { $reads } reads
 }


### Comparison of runs: compare-

compare-title = Comparison
compare-heading-confounders = Confounding differences
compare-heading-conditions = Conditions
compare-heading-figures = Figures
compare-heading-differences = Other differences
compare-heading-left-out = Excluded
compare-column-operation = operation
compare-column-figure = figure
compare-column-base = base
compare-column-run = run
compare-column-change = change
compare-column-interval = 95 % CI
compare-column-verdict = verdict
compare-column-method = test
# All operations together.
compare-all-operations = all
compare-no-differences = no differences in plan, versions and machine

compare-metric-tps = throughput, tps
    .requests = throughput, requests/s
compare-metric-p50 = response time p50
compare-metric-p90 = response time p90
compare-metric-p99 = response time p99
compare-metric-p999 = response time p99.9
compare-metric-service-p50 = service time p50
compare-metric-service-p99 = service time p99
compare-metric-errors = errors
compare-metric-differences = differences from recording
compare-metric-generator-cpu = generator CPU
compare-metric-pooler-cpu = pooler CPU
compare-metric-server-cpu = PostgreSQL CPU
compare-no-evidence = no evidence
compare-too-few = too few trials
compare-faster = faster
compare-slower = slower
compare-higher = higher
compare-lower = lower
compare-percentage-points = { $points } pp

# One base cell has a name; it has none in an experiment without a matrix.
compare-question-cells = How do the cells of { $base } compare with { $baselines ->
    [one] { $cell ->
        [none] its baseline
       *[other] { $cell }
    }
   *[other] their baselines
 }?
compare-cell-twice = "{ $cell }" selects a cell that another --cell selects already: select another cell
compare-one-cell = the run has only one cell: compare it with another run, as in `pgdyno compare BASE RUN`
cell-unknown = no cell matches "{ $wanted }": write one of { $cells }
cell-ambiguous = "{ $wanted }" matches several cells: write one of { $cells }
compare-question-runs = What changed from { $base } to { $runs }?
compare-answer = { $run }: { $result }{ $confounders ->
    [0] {""}
    [one] ; but { $confounders } other difference affects the figures too
   *[other] ; but { $confounders } other differences affect the figures too
 }.
compare-answer-nothing = nothing can be compared
compare-answer-too-few = too few trials to detect a difference
compare-answer-no-evidence = no evidence of a difference in { $figures ->
    [one] { $figures } figure
   *[other] { $figures } figures
 }
compare-answer-changes = of { $figures ->
    [one] { $figures } figure
   *[other] { $figures } figures
 }, { $changes }
compare-answer-better = { $count } better
compare-answer-worse = { $count } worse
compare-answer-other = { $count } different

# First screen. `tps` and `p99`: changed, unknown (no evidence) or few (too few trials). `pairs`: the number of pairs if
# none of them changed.
compare-overview = { $tps ->
    [few] Too few trials to compare throughput
    [unknown] No evidence of a change in throughput
   *[changed] Throughput{ $name ->
        [none] {""}
       *[other] {" "}of { $name }
    } changed by { $tps_change }
 }{ $pairs ->
    [none] {""}
   *[other] {" "}in any of { $pairs } pairs
 }{ $p99 ->
    [changed] ; p99 changed by { $p99_change }
   *[other] {""}
 }.{ $unlike ->
    [none] {""}
   *[other] {" "}The runs are not comparable.
 }
compare-overview-values = { $base } → { $run }{ $interval ->
    [none] {""}
   *[other] ; 95 % CI { $interval }
 }
compare-overview-changed = Pairs with a change
compare-overview-changed-of = of { $total } pairs, in throughput
compare-overview-conditions = { $met } of { $total } met
compare-overview-likeness = Comparability
compare-overview-alike = like with like
compare-overview-alike-detail = no other differences affect the figures
compare-overview-unlike = runs that are not comparable
compare-overview-unlike-detail = they also differ in { $subjects }
compare-subject = { $subject ->
    [transport] transport
    [server] PostgreSQL version
    [limits] limits
    [machine] machine
    [dataset] dataset
    [load] load
    [operations] operations
    [settings] settings
    [pgdyno] version of pgdyno
   *[objectives] objectives
 }
compare-caption-figures = Change of each figure, with the 95 % CI
compare-caption-pairs = Change in throughput of each pair, with the 95 % CI
compare-axis-change = Change, %
compare-no-change = no change
compare-dull-pairs = No evidence of a change in any figure of { $count } pairs: { $pairs }.

compare-confounders = { $count ->
    [one] One difference affects the figures
   *[other] { $count } differences affect the figures
 } in addition to the change under test:
compare-difference = { $path }: { $base } → { $run }{ $cells ->
    [none] {""}
   *[other] {" "}({ $cells })
 }{ $expected ->
    [true] , intended
   *[false] {""}
 }
compare-absent-value = none

compare-method-trials = Welch's test of { $base } and { $run ->
    [one] { $run } trial
   *[other] { $run } trials
 }
compare-method-pairs = paired test of { $pairs ->
    [one] { $pairs } pair
   *[other] { $pairs } pairs
 } of trials that were measured alternately
compare-method-ranks = rank test of { $base } and { $run ->
    [one] { $run } trial
   *[other] { $run } trials
 }, because the figure is 0 in some of them
compare-method-blocks = block bootstrap of { $base_count } and { $run_count } blocks of { $base_seconds } and { $run_seconds } s (correlation of neighbouring seconds { $base_correlation } and { $run_correlation }): it compares these trials only, not what another trial would measure
compare-method-none = { $base } and { $run ->
    [one] { $run } trial
   *[other] { $run } trials
 }: a test needs four of each

compare-excluded-trial = { $of_base ->
    [true] base
   *[false] run
 },{ $cell ->
    [none] {""}
   *[other] {" "}{ $cell },
 } trial { $trial }: { $reason }
compare-unmatched-cells = only the { $of_base ->
    [true] base
   *[false] run
 } has { $cells }
compare-condition = { $condition }{ $cell ->
    [none] {""}
   *[other] {" "}({ $cell })
 }: { $outcome }{ $value ->
    [none] {""}
   *[other] : { $value }
 }{ $low ->
    [none] {""}
   *[other] , between { $low } and { $high }
 }
compare-condition-met = met
compare-condition-not-met = not met
compare-condition-unknown = unknown
compare-condition-absent = unknown: the runs do not have this figure
compare-legend = medians of the valid trials; change: ratio of the medians, for errors their difference; 95 % CI by resampling trials; false discovery rate 5 % over { $figures ->
    [one] { $figures } figure
   *[other] all { $figures } figures
 }; seed { $seed }

compare-history-title = History
compare-history-heading-runs = Runs
compare-history-heading-changes = Changes
compare-history-column-when = when
compare-history-column-pgdyno = pgdyno
compare-history-column-postgresql = PostgreSQL
compare-history-column-trials = trials
compare-history-question = When did the figures of { $experiment } change?
compare-history-too-few = { $runs ->
    [one] One run is
   *[other] { $runs } runs are
 } too few to detect a change: five before and five after it are needed.
compare-history-no-evidence = No evidence of a change in { $runs ->
    [one] { $runs } run
   *[other] { $runs } runs
 }.
compare-history-changes = { $changes ->
    [one] One change
   *[other] { $changes } changes
 } in { $runs ->
    [one] { $runs } run
   *[other] { $runs } runs
 }.
compare-change-point = { $metric } from { $run } on: { $before } → { $after } ({ $change }, p { $p })
# Neither plan nor versions nor machine changed at the same run.
compare-history-no-difference = plan, versions and machine did not change at this point


### Experiment file: experiment-

# Errors have the attribute `help`, which says what to write instead. Arguments that are the user's words, and paths, are
# in backquotes already.
experiment-or = { $first } or { $last }
experiment-keyword = `{ $keyword }`
# YAML and the form of the file.
experiment-yaml = invalid YAML: { $reason }
    .help = { $cause ->
        [tab] indent with spaces, not with tabs
        [quote] close the quotation mark that begins here
        [bracket] close the bracket, and separate its entries by commas
        [indentation] indent all keys of a mapping equally, with spaces
       *[special] quote texts that contain `: ` or ` #`, or that begin with a special character
    }
experiment-file-size = the file is too large: { $size } kB
    .help = reduce it to at most { $max } kB; keep data in feed files
experiment-second-document = the file contains a second YAML document
    .help = write one experiment per file
experiment-alias = this alias refers to a value that contains it
    .help = refer to a value that ends before this line
experiment-tag = YAML tag { $tag } is not supported
    .help = remove the tag
experiment-complex-key = a list or a mapping cannot be a key
    .help = write a word before the colon
experiment-duplicate-key = duplicate key { $key }
    .help = remove it here or on line { $line }
experiment-too-many-values = the file contains more than { $max } values
    .help = remove values, or aliases that repeat large values
experiment-depth = values are nested more than { $max } levels deep
    .help = reduce the nesting
experiment-missing-key = { $path ->
    [none] the file has no `{ $key }`
   *[other] { $path } has no `{ $key }`
 }
    .help = { $key ->
        [operations] add it, as in `operations: {"{"} read: {"{"} sql: SELECT 1 {"}"} {"}"}`
        [load] add it, as in `load: {"{"} model: closed, clients: 8, duration: 10s {"}"}`
        [stack] add it, as in `stack: {"{"} postgres: {"{"}{"}"} {"}"}`
       *[other] add `{ $key }: …`; the value is { $kinds }
    }
experiment-unknown-key = { $path ->
    [none] unknown key { $key }
   *[other] unknown key { $key } in { $path }
 }
    .help = { $nearest ->
        [none] use one of { $keys }{ $has_settings ->
            [true] ; other settings of the program belong in `settings`
           *[false] {""}
        }
       *[other] write `{ $nearest }`
    }
experiment-empty-mapping = { $path } is empty
    .help = add one of { $keys }
experiment-no-value = { $path } has no value
    .help = write { $kinds }
experiment-invalid-value = { $path ->
    [none] invalid content of the file: { $value }
   *[other] invalid value of { $path }: { $value }
 }
    .help = { $example ->
        [none] write { $kinds }
       *[other] write `{ $example }`
    }
experiment-cut-at-comma = the value of { $key } ends at the comma
    .help = quote it: `{ $example }`
experiment-typographic-quotes = { $text } begins with a typographic quotation mark
    .help = write straight quotation marks: "…"
experiment-renamed = { $old } was renamed
    .help = write { $new }
experiment-unknown-word = invalid value of { $path }: { $value }
    .help = write `{ $nearest }`
experiment-list-length = { $path } has { $count ->
    [one] { $count } value
   *[other] { $count } values
 }
    .help = write { $length } values
experiment-too-small = { $path } is too small: { $value }
    .help = write at least { $min }
experiment-too-large = { $path } is too large: { $value }
    .help = write at most { $max }
experiment-integer = { $path } is not a whole number: { $value }
    .help = { $nearest ->
        [none] write a whole number such as 12 or 1_000
       *[other] write { $nearest }
    }
experiment-number = { $path } is not a number: { $value }
    .help = { $nearest ->
        [none] write a number such as 0.5
       *[other] write { $nearest }
    }
experiment-boolean = { $path } is not a boolean: { $value }
    .help = { $nearest ->
        [none] write true or false
       *[other] write { $nearest }
    }

# Kinds of values, after "write" and "the value is".
experiment-kind-mapping = a mapping (key: value)
experiment-kind-list = a list
experiment-kind-integer = a whole number
experiment-kind-number = a number
experiment-kind-boolean = true or false
experiment-kind-text = a string
experiment-kind-json = a value, which is sent as JSON
experiment-kind-duration = a duration such as 10s or 50ms
experiment-kind-bytes = a size such as 256MB
experiment-kind-offset = an offset such as +2m or -90s
experiment-kind-bytes-per-second = a number of bytes per second such as 10MB
experiment-kind-share = a share such as 0.1 or 10%
experiment-kind-pause = a pause such as 50ms or exponential(1s)
experiment-kind-order = an order such as `shuffled` or zipfian(1.2)
experiment-kind-status = a status code such as 200 or 2xx

# Values with units.
experiment-duration = invalid duration: { $text }
    .help = write a duration of at most 100 days, such as 10s, 50ms or 1m30s
experiment-duration-without-unit = duration { $text } has no unit
    .help = write { $number }s or { $number }ms
experiment-duration-unit = unknown unit in duration { $text }
    .help = { $example ->
        [none] use ns, us, ms, s, m, h or d
       *[other] write { $example }
    }
experiment-duration-zero = `{ $key }` must be greater than 0
    .help = write a duration such as 10s
experiment-whole-seconds = `{ $key }` is not a whole number of seconds: { $value }
    .help = write whole seconds, at least 1s
experiment-bytes = invalid size: { $text }
    .help = { $example ->
        [none] write a size such as 256MB or 1GB; the units are B, kB, MB, GB and TB
       *[other] write { $example }
    }
experiment-bytes-per-second = invalid number of bytes per second: { $text }
    .help = write a size such as 10MB, which means 10 MB per second
experiment-share = invalid share: { $text }
    .help = write a number from 0 to 1 or a percentage, such as 0.1 or 10%
experiment-pause = invalid pause: { $text }
    .help = write a pause such as 50ms, exponential(1s) or lognormal(1s, 0.5)
experiment-sigma = invalid σ of a log-normal distribution: { $text }
    .help = write a number from 0 to 4, as in lognormal(1s, 0.5)
experiment-order = unknown order of rows: { $text }
    .help = write `sequential`, `shuffled`, `random`, `once` or `zipfian(1.2)`
experiment-exponent = invalid exponent of a Zipf distribution: { $text }
    .help = write a number from 1.001 to 1000, as in zipfian(1.2)
experiment-status = invalid status code: { $text }
    .help = write 100 to 599, as in 200, 2xx or 200-299

# Errors of several sections.
experiment-conflicting-keys = `{ $second }` cannot be combined with `{ $first }`
    .help = remove one of them
experiment-out-of-range = `{ $key }` is out of range: { $value }
    .help = write a value from { $min } to { $max }
experiment-too-many = `{ $key }` has too many entries: { $count }
    .help = write at most { $max } entries
experiment-variable-name = { $name } is not a valid variable name
    .help = use letters, digits and _, and do not begin with a digit
experiment-invalid-name = { $name } is not a valid name
    .help = write a name of 1 to { $max } bytes without control characters
experiment-name-lookalike = { $name } looks like { $plain }
    .help = write { $plain }
experiment-name = { $name } is not a valid experiment name
    .help = use 1 to 64 lowercase letters, digits and hyphens, as in `{ $example }`
experiment-no-quick = the file has no section `quick`
    .help = leave out --quick, or add the section to the file, as in `quick: {"{"} repeat: 1, load.duration: 2s {"}"}`
experiment-set-syntax = { $text } has no `=`
    .help = write path=value, as in pooler.size=24

# Matrix.
experiment-unknown-path = unknown path { $path }
    .help = { $instead ->
        [none] { $nearest ->
            [none] { $keys ->
                [none] write a path of keys such as `pooler.size` or `load.clients`
               *[other] write one of { $keys }
            }
           *[other] write `{ $nearest }`
        }
       *[other] set what the file writes as `{ $instead }`
    }
experiment-meta-path = { $key } cannot be set
    .help = change it in the file; `--set` and `quick` set keys such as `pooler.size`, and the values of an axis
experiment-obstacle-value = `{ $path }` has the value { $value }
experiment-obstacle-list = `{ $path }` is a list
experiment-set-obstacle = { $path } cannot be set: { $obstacle }
    .help = set that value as a whole
experiment-axis-obstacle = { $path } cannot be set in all cells: { $obstacle }
    .help = add { $cell } to `skip`
experiment-matrix-size = the matrix has too many cells: { $count }
    .help = reduce it to at most { $max } cells
experiment-skip-all = `skip` excludes every cell
    .help = remove entries of `skip`
experiment-axis-empty = axis { $axis } has no values
    .help = add values, as in [1, 2], or remove the axis
experiment-axis-duplicate = duplicate value { $value } in axis { $axis }
    .help = remove it; `repeat` sets the number of trials of each cell
experiment-axis-lookalike = { $value } looks like another value of axis { $axis }
    .help = name the values, as in {"`way: { first: { path: value }, second: { path: value } }`"}
experiment-axis-common = { $path } cannot differ between cells
    .help = set it outside of `matrix`
experiment-axis-sets = axis { $axis } sets { $path } as well
    .help = select a value of { $axis }, or remove this assignment
experiment-unknown-axis = the matrix has no axis { $axis }
    .help = { $nearest ->
        [none] { $axes ->
            [none] remove this key: the file has no `matrix`
           *[other] use one of { $axes }
        }
       *[other] write `{ $nearest }`
    }
experiment-unknown-value = axis { $axis } has no value { $value }
    .help = { $nearest ->
        [none] use one of { $values }
       *[other] write { $nearest }
    }
experiment-baseline-skipped = the baseline is a skipped cell
    .help = select another cell
experiment-baseline-all = the baseline matches all cells
    .help = {"name the value of an axis that has several, such as `baseline: { way: direct }`"}

# Stack.
experiment-stack-postgres = the stack has no PostgreSQL
    .help = {"add `postgres: {}`"}
experiment-attached-chain = attached `{ $attached }` cannot forward to `{ $node }`, which pgdyno starts
    .help = { $node ->
        [postgres] remove `postgres`, or attach it too
       *[other] attach `{ $node }` too
    }
experiment-attached-key = `{ $key }` cannot be combined with `{ $address }`: pgdyno does not configure attached systems
    .help = remove `{ $key }`
experiment-address = invalid connection string: { $text }
    .help = write a connection string of libpq, such as postgres://host:5432/database
experiment-address-password = the connection string contains a password
    .help = remove it from the file; set PGPASSWORD, or write it into ~/.pgpass
experiment-pooler-admin = `admin` is only for an attached pooler
    .help = remove it: pgdyno knows the console of a pooler that it starts
experiment-pooler-mode = { $product } does not support { $mode } pooling
    .help = write { $modes }
experiment-pooler-option = { $product } has no `{ $key }`
    .help = remove it, or write { $others }
experiment-pooler-version = { $text } is not a version of { $product } that pgdyno supports
    .help = write { $oldest } or later
experiment-pooler-setting-version = { $product } before { $since } has no setting `{ $name }`
    .help = add `version: { $since }` to the pooler, or remove the setting
experiment-pooler-prepared = prepared statements do not work with { $mode } pooling in this version of { $product }
    .help = write `query_mode: extended`{ $version ->
        [none] {" "}or `mode: session`
       *[other] , `mode: session` or, in the pooler, `version: { $version }`
    }
experiment-pooler-statement-mode = { $operation } begins a transaction, which statement pooling rejects
    .help = write `mode: transaction`, or remove BEGIN
experiment-pool-size = the pool of { $size } connections is larger than PostgreSQL allows: max_connections is { $connections }, { $reserved } of them reserved
    .help = { $free ->
        [none] write `postgres.max_connections: { $needed }`
       *[other] write at most { $free }, or `postgres.max_connections: { $needed }`
    }
experiment-balancer-kind = `stack.balancer` has no `kind`
    .help = add `kind: { $kind }`
experiment-balancer-duration = `{ $key }` is shorter than 1ms, the resolution of { $product }
    .help = write at least 1ms
experiment-setting = PostgreSQL rejects this setting: { $reason }
    .help = { $nearest ->
        [none] { $hint ->
            [none] see "Server Configuration" in the manual of PostgreSQL
           *[other] { $hint }
        }
       *[other] write `{ $nearest }`
    }
experiment-managed-setting = setting `{ $setting }` of `{ $node }` is managed by pgdyno
    .help = { $key ->
        [none] remove it; the key `transport` sets it
       *[other] write it as `{ $key }`
    }
experiment-tls-behind = { $product } forwards TLS, but `{ $next }` accepts no TLS
    .help = write `tcp`, or `{ $next }.transport: tls`
experiment-tls-before = { $product } forwards TLS, but only `{ $next }` uses TLS
    .help = write `balancer.transport: tls`, or `{ $next }.transport: tcp`
experiment-limit-memory = the memory limit is less than 1MB
    .help = write at least 1MB, as in 256MB
experiment-limit-zero = `{ $key }` must be greater than 0
    .help = write at least 1, or remove the limit
experiment-limit-cpu-twice = duplicate CPU { $cpu }
    .help = list each CPU once, as in [0, 1]
experiment-limit-cpu = the limit of { $cpu } CPUs exceeds the { $count ->
    [one] { $count } CPU
   *[other] { $count } CPUs
 } in `cpus`
    .help = write at most { $count }

# Hosts whose nodes share limits.

experiment-host-name = { $name } is not a valid name of a host
    .help = use lowercase letters, digits, `-` and `_`, as in `web`
experiment-host-reserved = a host cannot have the name { $name }, because it is, or begins with, the name of a node
    .help = write another name, such as `machine`
experiment-host-empty = the host has no nodes
    .help = add them, as in `nodes: [pooler, balancer]`
experiment-host-node = there is no node { $name }
    .help = write { $known }
experiment-host-attached = { $name } is attached, so pgdyno cannot limit it
    .help = remove it from the host
experiment-host-twice = { $node } is already on the host `{ $host }`
    .help = remove one of the two entries
experiment-host-per-copy = { $name } is not started for each copy of the service
    .help = remove it from the host, or write `per: stack`
experiment-host-limits = the host has no limits
    .help = add `cpu`, `memory` or `cpus`
experiment-host-quota = the CPU limit of `{ $name }`, { $cpu }, exceeds that of its host, { $quota }
    .help = lower the limit of `{ $name }`, or remove it

# Services.
experiment-service-command = `stack.service` has no `command`
    .help = add a command, as in `command: [target/shop, --quiet]`, several `programs`, or the `url` of a running service
experiment-service-both = `stack.service` has both `command` and `programs`
    .help = move the command into `programs`, as in `web: {"{"} command: […] {"}"}`
experiment-service-limits = the programs of a service have limits of their own
    .help = move `limits` into the entries of `programs`, or let the programs share the limits of a host in `stack.hosts`
experiment-program-name = { $name } is not a valid name of a program
    .help = use lowercase letters, digits, `-` and `_`, as in `web`
experiment-program-reserved = a program cannot have the name { $name }, because the names of variables of the database begin with it
    .help = write another name
experiment-program-command = the program `{ $name }` has no command
    .help = add one, as in `command: [nginx, -c, "${"{"}dir{"}"}/nginx.conf"]`
experiment-programs-none-serves = no program of the service listens on its address, because all of them have `per: stack`
    .help = remove `per: stack` from the program that receives the requests, and list it last
experiment-program-ready-serving = the program `{ $name }` serves the address of the service, so `stack.service.ready` applies to it
    .help = move the path to `stack.service.ready`
experiment-program-ready = { $text } does not state when the program is ready
    .help = write a path such as `/health`, `port`, a socket such as `${"{"}dir{"}"}/fpm.sock`, or `running`
experiment-file-name = { $name } is not a relative path within the directory of the service
    .help = write a name such as `nginx.conf` or `conf/nginx.conf`
experiment-file-twice = the file { $name } is written twice
    .help = remove one of the entries, or change its name
experiment-template-file = cannot read the template { $file }: { $error }
    .help = write a path relative to this file
experiment-stats-program = the service has no program { $program }
    .help = write { $programs }
experiment-stats-no-programs = the service is a single program, and has no program { $program }
    .help = remove `program`
experiment-service-variable = `{ $variable }` is not a variable
    .help = write { $variables }; for a text that is not a variable, write `$${"{"}…{"}"}`
experiment-variable-secret = arguments cannot contain `{ $variable }`, because every user of the machine can read them
    .help = write the variable into a file of `files`, or into `env`
experiment-variable-no-database = `{ $variable }` has no value, because the stack has no database
    .help = add `postgres` to the stack
experiment-variable-no-replicas = `{ $variable }` has no value, because no balancer of `replicas` is directly behind the service
    .help = add `replicas` and `balancer` to the stack, without a pooler, or write a variable of `database`
experiment-variable-of-copy = `{ $variable }` has no value in a program with `per: stack`, which belongs to no copy
    .help = remove the variable, or `per: stack`
experiment-service-path = { $path } is not a path
    .help = write a path such as `{ $example }`
experiment-stats-twice = this page is listed twice
    .help = remove it
experiment-stats-url-and = `{ $key }` cannot be combined with `url`
    .help = write path and port into `url`, and remove `{ $key }`
experiment-stats-copies = all copies of the service would have one page, because of `{ $key }`
    .help = remove `{ $key }`, or `copies`: each copy serves the page of a `path` itself
experiment-stats-no-path = the page has no address
    .help = add a path, as in `path: /status`, or a `url`
experiment-stats-series = only pages of Prometheus have `series`
    .help = remove it, or add `form: prometheus`
experiment-stats-series-name = { $name } is not the name of a metric
    .help = write a name without labels, such as `http_requests_total`
experiment-metrics-path = the URL has no path of a page with metrics
    .help = write a URL such as `{ $example }`
experiment-metrics-unused = `{ $node }.metrics` applies only to an attached system: pgdyno samples this machine itself
    .help = remove it, or attach a system with `{ $address }`
experiment-env-reserved = pgdyno sets the environment variable `{ $name }` itself
    .help = remove it
experiment-env-name = { $name } is not a valid name of an environment variable
    .help = write a name such as `POOL_SIZE`
experiment-url = the URL { $problem ->
    [blank] contains a space or a control character
    [socket] has no socket path
    [relative] has a path after the socket that does not begin with `/`
    [no-scheme] does not begin with `http://`, `https://` or `unix:`
    [scheme] has the unknown scheme `{ $scheme }`
    [password] contains a user name or a password
    [after-bracket] has text after `]` that is not a port
    [ipv6] has no IPv6 address between `[` and `]`
    [host] has no host
   *[port] has a port outside the range 1 to 65535
 }
    .help = write a URL such as http://127.0.0.1:8080
experiment-url-password = the URL contains a user name and a password
    .help = send them in a header
experiment-page-password = the URL contains a user name and a password
    .help = remove them: pgdyno reads pages without a login; let the page's server accept requests from this machine without one
experiment-url-path = the URL contains the path { $path }
    .help = remove the path; write it in the operations

# Systems on other machines.
experiment-allow-missing = `{ $address }` is on another machine
    .help = add `allow: "{ $address }"` if the system is yours and you may put load on it
experiment-allow-differs = { $allow } differs from the address in `{ $key }`
    .help = write `{ $address }` if you may put load on this system
experiment-guard-unused = `{ $node }.{ $key }` applies only to an attached system
    .help = remove it, or attach a system with `{ $address }`
experiment-caps-local = `{ $node }.caps` applies only to systems on other machines
    .help = remove it, or add `allow: "{ $address }"` if the address leads to another machine
experiment-caps-other-sessions = `caps.other_sessions` does not apply to services: their other clients cannot be counted
    .help = remove it
experiment-cap-rate = `caps.rate` must be greater than 0: { $rate }
    .help = write a rate per second such as 100
experiment-cap = { $key ->
    [clients] { $value } clients exceed
   *[other] { $value } exceeds
 } the cap of { $cap } for systems on other machines
    .help = reduce it, or raise `{ $node }.caps.{ $key }`
experiment-warmup-remote = `warmup` is not allowed because `{ $node }` is on another machine: it runs at full load
    .help = remove it; begin the schedule with a low rate

# Load.
experiment-load-key = `{ $key }` cannot be used with `model: { $model }`
    .help = { $other ->
        [none] { $model ->
            [replay] remove it: the recording determines the load
           *[other] { $key ->
                [clients] use `max_in_flight`, the maximum number of transactions in flight
                [users] use `max_in_flight`, the maximum number of transactions in flight
                [duration] remove it: the schedule sets the duration
                [max_in_flight] use `clients`
                [coefficient] remove it: in the closed model, rates are only weights
                [traffic] write `model: replay` to keep the recorded times, or `model: open` to start the recorded transactions on a schedule
                [schedule] remove it: in the closed model, a transaction starts after the previous one ends
                [arrivals] remove it: in the closed model, a transaction starts after the previous one ends
               *[other] remove it: the schedule sets the start times
            }
        }
       *[other] write `model: { $other }`, or remove this key
    }
experiment-sql-braces = `{"$"}{"{"}{ $name }{"}"}` is not replaced in SQL
    .help = write `:{ $name }`
experiment-sql-folded = YAML joins the lines of this text
    .help = write `sql: |` and the text on the lines below it, indented
experiment-colon-variable = `:{ $name }` is not replaced in a request
    .help = write `{"$"}{"{"}{ $name }{"}"}`, or `%3A{ $name }` if no variable is meant
experiment-missing-colon = `: ` is missing after `{ $name }`
    .help = write `{ $corrected }`
experiment-key-of-file = { $key } does not belong in { $path }
    .help = { $operation ->
        [none] write it at the beginning of a line: `{ $name }: …`
       *[other] write it at the beginning of a line: `objectives: ["{ $operation }: p99 < 200ms"]`
    }
experiment-objectives-mapping = `objectives` is a mapping (key: value)
    .help = write a list: `objectives: [{ $list }]`
experiment-load-open = `model: open` starts transactions on a schedule, without { $keys }
    .help = write
        load:
          model: open
          schedule: line(1, 200, 60s)
          max_in_flight: 100
        and remove { $keys } from `load`, `matrix` and `quick`
experiment-load-key-missing = `model: { $model }` requires `{ $key }`
    .help = { $key ->
        [clients] add the number of clients, as in `clients: 8`
        [duration] add a duration, as in `duration: 30s`
        [max_in_flight] add the maximum number of transactions in flight, as in `max_in_flight: 100`
        [traffic] add the path of a recording, as in `traffic: shop.traffic`
       *[other] add the rate over time, as in `schedule: line(1, 200, 200s)`
    }
experiment-recording-unreadable = the recording { $file } cannot be used: { $reason }
    .help = write the path of a recording that `pgdyno record` or `pgdyno capture` made, relative to the experiment file
experiment-recording-empty = it has no requests
experiment-recording-unfinished = it has no complete transaction
experiment-traffic-key = `{ $key }` cannot be used with `traffic`
    .help = remove it: the transactions are those of the recording, as they were sent
experiment-replay-operations = a load with `traffic` has no operations: the recording contains its statements
    .help = delete `operations`
experiment-replay-find = a replay has no goal: the recording determines the load
    .help = delete `find` and `prove`; to search for a maximum, write `model: open`, which starts the recorded transactions on a schedule
experiment-threads = { $threads } threads for { $clients } clients: a client belongs to one thread
    .help = write at most { $clients } threads
experiment-users-zero = every stage has 0 users
    .help = add a stage with users, as in {"`users: [{ users: 100, spawn_rate: 5, duration: 90s }]`"}
experiment-stage-too-short = the stage is too short: going from { $from } to { $to } users at { $rate }/s takes { $seconds } s
    .help = write `duration: { $seconds }s` or longer, or a higher `spawn_rate`
experiment-schedule-closed = an operation cannot have its own `schedule` in the closed model
    .help = use `weight`, or write `model: open`
experiment-schedule-unused = the schedule has no effect: every operation has its own
    .help = remove it, or the `schedule` of an operation
experiment-schedule-too-long = the operation's schedule ({ $schedule }) is longer than the load ({ $load })
    .help = shorten the operation's schedule
experiment-coefficient-unused = the coefficient has no effect: no operation has a `rate`
    .help = add `rate` to operations, or remove the coefficient
experiment-rate-sum = the rates add up to { $rate }/s, more than the maximum of 10000000/s
    .help = reduce the coefficient or the rates
experiment-load-http-key = `{ $key }` has no effect: no operation uses HTTP
    .help = remove it

# Find.
experiment-find-mode = `find` must have exactly one mode
    .help = write one of `max`, `confirm`, `soak`, `sweep` and `failover`
experiment-find-bounds = `limit` ({ $limit }) is less than `from` ({ $from })
    .help = write at least { $from }
experiment-find-maximum = `maximum` requires `level`
    .help = remove it: without `level`, the maximum is searched for
experiment-share-zero = `share` must be greater than 0%
    .help = write a share such as 80%
experiment-prove = `prove` requires a search for a maximum
    .help = remove it, or write `find: max`
experiment-search-schedules = the search has no rate to vary: every operation has its own `schedule`
    .help = remove the `schedule` of at least one operation; the search sets its rate
experiment-search-users = a search cannot vary `users`
    .help = use `clients`; the search sets their number

# Operations.
experiment-operations-empty = there are no operations
    .help = add one, as in {"`read: { sql: SELECT 1 }`"}
experiment-operation-empty = operation { $operation } has no action
    .help = add `sql`, `script` or an HTTP method, as in `get: /path`
experiment-operation-service = the stack has no service for this HTTP operation
    .help = add {"`service: { command: […] }`"}, or {"`service: { url: … }`"} for a running service
experiment-operation-database = the stack has no PostgreSQL for this SQL operation
    .help = add {"`postgres: { attach: … }`"} to the stack, or send HTTP requests
experiment-weights-zero = every operation has weight 0
    .help = give at least one operation `weight: 1`
experiment-rate-missing = operation { $operation } has no `rate`, but others have one
    .help = add its `rate` (per second), or use `weight` in all operations
experiment-target-http = `target` does not apply to HTTP operations
    .help = remove it
experiment-target-replicas = `target` names replicas, but the stack has none
    .help = remove it, or add {"`replicas: { count: 2 }`"} to the stack
experiment-key-beside-steps = `{ $key }` cannot be combined with `steps`
    .help = move it into a step
experiment-key-without-request = `{ $key }` requires an HTTP method
    .help = add a method, as in `get: /path`, or remove it
experiment-set-script = `set` does not apply to SQL operations
    .help = write `\set name expression` in the script
experiment-set-lines = the expression has several lines
    .help = write it on one line
experiment-script-file = cannot read the script { $file }: { $error }
    .help = write a path relative to this file
experiment-script-empty = the operation has no statement, only comments and semicolons
    .help = write a statement such as SELECT 1
experiment-unknown-variable = unknown variable { $name } in { $operation }
    .help = { $nearest ->
        [none] { $names ->
            [none] add a `feed` with this column, compute the variable in `set`, or `capture` it in an earlier step
           *[other] use one of { $names }, compute the variable in `set`, or `capture` it in an earlier step
        }
       *[other] write `{ $nearest }`
    }
experiment-variable-syntax = this `$` does not begin a variable
    .help = write {"`${name}`"} for a variable, or `$$` for a dollar sign
experiment-document-markup = { $kind ->
    [heading] { $text } is a heading; the document has its own
    [html] { $text } is HTML, which a document cannot contain
    [quote] { $text } is a quotation, which a document cannot contain
    [image] { $text } is an image, which a document cannot contain
    [table] { $text } begins a table, which a document cannot contain
    [rule] { $text } is a rule, which a document cannot contain
    [strikethrough] { $text } is struck through, which a document cannot show
    [deep-list] { $text } is in the fourth list within another; a document has three levels
   *[other] { $text } is markup that a document cannot contain
}
    .help = write paragraphs, lists, code blocks, *emphasis*, **strong** and `code`; put a backslash before a character that is no markup
experiment-environment = { $is_set ->
    [true] the environment variable `{ $name }` is not valid UTF-8
   *[false] the environment variable `{ $name }` is not set
 }
    .help = set it before the run, as in `export { $name }=…`, or remove it here

# HTTP requests.
experiment-steps-empty = `steps` is empty
    .help = add steps with a method each, as in `get: /path`
experiment-duplicate-step = duplicate step name { $name }
    .help = choose another name: reports identify steps by name
experiment-request-method = the request has no method
    .help = add one with its path, as in `get: /books`
experiment-request-methods = the request has two methods, `{ $first }` and `{ $second }`
    .help = remove one of them, or write two `steps`
experiment-request-body = a { $method } request cannot have a body
    .help = use `post` or `put`, or move the fields to `query`
experiment-request-path = { $path } is not a path
    .help = write `{ $example }`; the address is set in `stack.service`
experiment-request-path-empty = the path is empty
    .help = write a path such as `/books`
experiment-path-character = a path cannot contain the character { $character }
    .help = write `{ $encoded }`, or move the value to `query`, which encodes it
experiment-on-start-http = `on_start` needs an operation that sends requests to a service
    .help = remove it; `on_start` is not available for SQL
experiment-defaults-unused = no operation uses `defaults`
    .help = remove it; `defaults` is for requests to a service
experiment-hook-empty = `{ $key }` has no command
    .help = write a program and its arguments, as in `{ $key }: [./switch.sh, session]`
experiment-pause-first = the first step cannot begin with a pause
    .help = move it to a later step; for a pause between operations, use `load.think`
experiment-contains-empty = an empty text is in every response
    .help = write the text that the response must or must not contain
experiment-header-name = { $name } is not a valid header name
    .help = use letters, digits and hyphens, as in `Location`
experiment-header-reserved = pgdyno sets the header { $header } itself
    .help = remove it
experiment-header-value = the value of header { $header } contains a line break or a control character
    .help = write the value on one line
experiment-json = invalid JSON: { $reason }
    .help = write JSON, or a YAML value such as {"{ id: \"${id}\" }"}
experiment-json-pointer = { $text } is not a JSON pointer
    .help = write a pointer such as `{ $example }`
experiment-regex = invalid regular expression: { $reason }
    .help = write one such as { $example }

# Feeds.
experiment-feed-source = feed { $feed } has no source
    .help = add `file: …`, `sql: …` or {"`rows: [{ column: value }]`"}
experiment-feed-format-file = `format` requires `file`
    .help = remove it
experiment-feed-lookup = { $text } is not a column of a table
    .help = write table.column or schema.table.column
experiment-feed-query = the stack has no PostgreSQL for this query
    .help = add {"`postgres: { attach: … }`"} to the stack, or use a `file`
experiment-log-format-file = `log_format` requires a `file` with `format: access`
    .help = remove it
experiment-log-format-fits = the log { $file } does not have this format: { $reason }
    .help = copy the format with which the server wrote the log
experiment-feed-requests = cannot use the requests of feed { $feed }: { $reason }
    .help = correct the file or its format
experiment-by-tag = `by_tag` requires `ammo`, and an operation without its own `schedule`
    .help = remove it
experiment-recorded-key = `{ $key }` cannot be used with `schedule: recorded`
    .help = remove it: the log determines the load
experiment-recorded-operation = operation { $operation } has no recorded times
    .help = with `schedule: recorded`, each operation has `ammo` with the feed of an access log
experiment-recorded-feed = feed { $feed } has no recorded times
    .help = use the feed of an access log, or a schedule such as `line(1, 200, 200s)`
experiment-recorded-no-times = the requests of feed { $feed } have no times
    .help = use a log whose format contains a time such as `$time_local` or `%t`, or write a schedule such as `line(1, 200, 200s)`
experiment-recorded-twice = two operations send the requests of feed { $feed }
    .help = remove one of them; `by_tag: true` makes an operation of each kind of request
experiment-recorded-find = `schedule: recorded` has no goal: the log determines the load
    .help = delete `find` and `prove`, or write a schedule such as `line(1, 200, 200s)`
experiment-feed-query-empty = the query is empty
    .help = write a query such as `SELECT id FROM users`
experiment-fill-in = this value is not filled in
    .help = write an SQL expression in place of FILL_IN, or read the values from a file
experiment-feed-format = cannot derive the format of the feed from the file name { $file }
    .help = add `format`: `csv`, `tsv`, `jsonl`, `uri`, `uripost`, `raw` or `access`
experiment-feed-file = cannot use the feed file { $file }: { $reason }
    .help = { $has_columns ->
        [true] write the columns of the file, or remove `columns` if the file's first line names them
       *[false] write the path of a file with rows, relative to this file
    }
experiment-feed-rows = { $count ->
    [0] `rows` is empty
   *[other] `rows` has too many entries: { $count }
 }
    .help = write 1 to { $max } rows; keep more rows in a file
experiment-ammo-columns = `columns` does not apply to a feed of requests
    .help = remove it: the columns are those of the requests
experiment-duplicate-column = duplicate column { $column }
    .help = remove it
experiment-row-empty = the row is empty
    .help = write columns with values, as in {"{ id: 1 }"}
experiment-row-lacks-column = row { $row } has no column { $column }
    .help = write the columns of the first row in every row
experiment-row-extra-column = row { $row } has the column { $column }, which the first row lacks
    .help = write the columns of the first row in every row
experiment-row-nul = column { $column } contains a NUL byte
    .help = remove it: PostgreSQL cannot store NUL in text
experiment-unknown-feed = unknown feed { $feed }
    .help = { $nearest ->
        [none] add it to `feeds`
       *[other] write `{ $nearest }`
    }
experiment-feed-is-values = feed { $feed } contains values, not requests
    .help = use `feed` with a request, or give the feed `format: uri`
experiment-feed-is-requests = feed { $feed } contains requests
    .help = write `ammo: { $name }` without a request

# Dataset.
experiment-dumps-empty = the list of dumps is empty
    .help = name at least one file
experiment-dump-unreadable = { $file } cannot be used as a dump: { $error }
    .help = write the path of a file or directory of pg_dump, relative to this file
experiment-dataset-name = the dataset has no `name`, `tables`, `restore`, `template` or `from`
    .help = add the `name` `tickets`, `books`, `delivery`, `users`, `profiles` or `pgbench`, declare `tables`, name the file of a dump in `restore`, or a database of an attached server in `template`
experiment-between-restored = `between` has no effect, because the data are restored before each trial
    .help = add `keep: true`, or write the statements in `after`
experiment-keep-alone = `keep` cannot be combined with `matrix`, `find` or `faults`: a trial would find the data as another cell or step left them
    .help = remove `keep` or the other key; to compare two systems on kept data, write an experiment for each and compare their runs
experiment-dataset-server = { $is_template ->
    [true] `template` requires a PostgreSQL server, but the stack ends with `{ $node }`: a database cannot be copied through it
   *[false] `dataset` requires a PostgreSQL server, but the stack ends with `{ $node }`: data cannot be restored through it
 }
    .help = add {"`postgres: { attach: \"host=db.example user=me dbname=measured\" }`"} to `stack`, or remove `dataset`
experiment-dataset-seed = `seed` has no effect with `{ $key }`
    .help = remove it{ $key ->
        [from] , or take a sample, as in `from: {"{"} source: …, sample: 10% {"}"}`
       *[other] ; the seed of the load is the file's own key `seed`
    }
experiment-source-itself = `from` is the measured database { $address }, which a trial would replace
    .help = write another database in `stack.postgres.attach`, such as dbname=measured
experiment-template-own-server = `template` requires an attached server; a server that pgdyno starts has no database { $name }
    .help = add `attach` to `stack.postgres`, or name a dump of the database in `restore`
experiment-template-itself = `template` is the database that the trials measure, which is dropped before each trial
    .help = write another database in `stack.postgres.attach`, such as dbname=measured
experiment-speed-recorded = `speed` applies only to recorded times
    .help = remove it, or write `schedule: recorded`
experiment-template-name = the name of a database has 1 to 63 bytes
    .help = write the name of a database of the attached server, such as shop_golden
experiment-dataset-key = `{ $key }` applies only to the dataset { $datasets }
    .help = remove it
experiment-dataset-unnamed = `{ $key }` requires the name of a dataset
    .help = add `name: { $example }`
experiment-dataset-scale = `scale` is out of range: { $value }
    .help = write a whole number from 1 to { $max }
experiment-tables-empty = `tables` is empty
    .help = add a table, or remove `tables`
experiment-table-name = { $name } is not a valid table name
    .help = write `table` or `schema.table`, in letters, digits and _
experiment-column-name = { $name } is not a valid column name
    .help = use letters, digits and _
experiment-columns-empty = the table has no columns
    .help = add one, such as `id: serial`
experiment-unknown-column = the table has no column { $column }
    .help = { $nearest ->
        [none] write the name of a column of this table
       *[other] write `{ $nearest }`
    }
experiment-timestamp = invalid timestamp: { $text }
    .help = write a timestamp such as 2024-01-01 or 2024-01-01 12:00:00
experiment-one-of-empty = `one_of` is empty
    .help = add values, as in [a, b]
experiment-range-order = the lower bound is greater than the upper bound
    .help = swap the bounds

# Replicas and faults.
experiment-replicas-transport = replication requires TCP, but `postgres.transport` selects another transport
    .help = write `tcp`, or remove `transport`
experiment-replicas-attached = an attached PostgreSQL cannot have `replicas`
    .help = remove them: pgdyno does not configure attached systems
experiment-sync = invalid synchronous replication: { $text }
    .help = write `async`, `first 1` or `any 1`
experiment-sync-count = commits wait for { $sync } replicas, but there { $count ->
    [one] is only { $count }
   *[other] are only { $count }
 }
    .help = write at most { $count }
experiment-manager-key = `{ $key }` does not apply with `manager: { $manager }`
    .help = remove it, or write `manager: pgdyno`
experiment-manager-unused = `{ $manager }` requires `manager: { $manager }`
    .help = add `manager: { $manager }`, or remove this section
experiment-manager-ttl = `ttl` is too short for { $product }: { $value }
    .help = write at least { $min }
experiment-manager-timeouts = `loop_wait` + 2 × `retry_timeout` is longer than `ttl`
    .help = write values such as `ttl: 20s`, `loop_wait: 5s`, `retry_timeout: 5s`
experiment-store-servers = unsupported number of servers of `{ $key }`: { $value }
    .help = write { $counts }
experiment-fault-action = the fault has { $count ->
    [0] no action
   *[other] { $count } actions
 }
    .help = write one action, as in {"`{ at: 20s, kill: primary }`"}
experiment-fault-time = the fault has no time
    .help = add `at: 20s` or `after: promoted`
experiment-fault-duration-missing = `{ $action }` requires a duration
    .help = add a duration, as in `duration: 5s`
experiment-fault-duration = `duration` does not apply to `{ $action }`
    .help = remove `duration`
experiment-fault-from = `from` applies only to `isolate`, not to `{ $action }`
    .help = remove `from`
experiment-fault-from-empty = `from` names no node
experiment-fault-by = `by` applies only to `shift_clock`, not to `{ $action }`
experiment-fault-by-missing = `shift_clock` requires an offset, such as `by: +2m` or `by: -90s`
experiment-offset = { $text } is not an offset: write it like +2m or -90s, and not 0
    .help = name servers or etcd, as in `from: [etcd, postgres-2]`
experiment-fault-part = `part` applies only to `kill`, not to `{ $action }`
    .help = remove `part`
experiment-fault-replicas = `{ $action }` requires replicas
    .help = add {"`replicas: { count: 2 }`"} to the stack
experiment-fault-external-key = `{ $key }` applies only to a fault with { $key ->
    [undo] `run`
   *[other] `run` or `external`
 }
    .help = remove `{ $key }`
experiment-fault-external-time = `{ $action }` needs a time, because pgdyno does not inject faults into this system
    .help = write `at: 10s` instead of `after`
experiment-servers-attached = `servers` applies only to an attached cluster
    .help = add `attach`, or remove `servers`
experiment-fault-block-replication = `block_replication` does not apply to { $target }
    .help = write `block_replication: primary`
experiment-fault-server = `{ $key }` applies only to PostgreSQL servers, not to { $target }
    .help = write `primary`, `replica`, or a PostgreSQL server such as `postgres-2`
experiment-fault-switchover = `primary` already is the primary
    .help = write `any`, `replica`, or a PostgreSQL server such as `postgres-2`
experiment-fault-manager = `part: { $manager }` requires `manager: { $manager }`
    .help = remove `part`, or write `part: postmaster`
experiment-fault-target = unknown node { $target }
    .help = { $targets ->
        [none] remove the fault: pgdyno starts no node of this stack
       *[other] write { $targets }
    }
experiment-fault-too-late = the fault (at { $at }) comes after the end of the load ({ $load })
    .help = inject it earlier, or extend the load

# Failover and ledgers.
experiment-failover-replicas = `find: failover` requires replicas
    .help = add {"`replicas: { count: 2, sync: any 1 }`"} next to a `postgres` that pgdyno starts
experiment-failover-ledger = `find: failover` requires an operation with a `ledger`, to detect lost writes
    .help = add `ledger: SELECT token FROM …` to an operation that writes `:token` or {"`${token}`"}
experiment-failover-faults = `find: failover` requires faults
    .help = add {"`faults: [{ at: 20s, kill: primary }]`"}
experiment-control-primary = no fault makes the primary fail, so the positive control cannot lose writes
    .help = add {"`{ at: 20s, kill: primary }`"}, or write `control: false`
experiment-control-after = the positive control needs to know when this fault begins, to block replication before it
    .help = write `at` without `after`, or `control: false`
experiment-control-early = the positive control blocks replication for 500ms before this fault
    .help = write `at: 500ms` or later, or `control: false`
experiment-invariant-ledger = `invariants` require an operation with a `ledger`
    .help = add `ledger: SELECT token FROM …` to an operation that writes `:token`
experiment-invariant-command = this invariant contains a pgbench meta-command
    .help = write one query, as in `SELECT sum(balance) FROM accounts`
experiment-invariant-query = this invariant contains { $count ->
    [0] no query
   *[other] { $count } statements
 }
    .help = write one query, as in `SELECT sum(balance) FROM accounts`
experiment-ledger-command = `ledger` contains a pgbench meta-command
    .help = write one query of one column, as in `SELECT token FROM payments`
experiment-ledger-query = `ledger` contains { $count ->
    [0] no query
   *[other] { $count } statements
 }
    .help = write one query of one column, as in `SELECT token FROM payments`
experiment-ledger-ammo = `ledger` cannot be combined with `ammo`: requests of a feed cannot contain a token
    .help = remove it, or write the requests here, with {"`${token}`"}
experiment-ledger-database = the stack has no PostgreSQL to read the ledger from
    .help = add {"`postgres: { … }`"} to the stack, or remove `ledger`
experiment-ledger-token = { $operation } has a ledger but writes no token
    .help = write `{ $token }` into a column that the ledger's query reads
experiment-ledger-commit-setting = { $operation } sets `synchronous_commit` itself, so it is unknown what the server promises for each write
    .help = set it in `postgres.settings`, with ALTER ROLE … SET or with ALTER DATABASE … SET
experiment-ledger-token-twice = { $operation } writes its token into { $rows } rows, which the ledger would count as duplicates
    .help = write each token into one row of one table
experiment-ledger-update = { $operation } overwrites tokens ({ $statement }), which the ledger would count as lost writes
    .help = insert a new row for each token, as in {"`INSERT INTO payments (token) VALUES (:token)`"}
experiment-ledger-delete = { $operation } deletes rows of { $table }, whose tokens the ledger would count as lost writes
    .help = keep these rows, or write the tokens into another table
experiment-ledger-second-token = the variable `token` is reserved for the ledger
    .help = rename this variable

# Warnings.
experiment-feed-unused = feed { $feed } is not used by any operation
experiment-capture-unused = variable { $variable } captured by { $operation } is not used
experiment-remote-stop-rule = stop rule { $rule } applies by default on another machine
experiment-cold-attached = `cache: cold` has no effect: pgdyno cannot restart an attached server


### Errors of the stack and its nodes

# `node-error` puts an attempt between the node and the reason: "pooler could not start: …". The messages `attempt-…`
# are its verb phrases.
error-text = { $text }
error-quoted = { $text }
error-not-regular-file = it is { $kind ->
    [fifo] a FIFO; name a regular file
    [character-device] a character device; name a regular file
    [block-device] a block device; name a regular file
   *[other] not a regular file
 }
dump-no-toc = the directory contains no toc.dat, so it is not a dump
probe-page-status = GET { $path } returned status { $status }
error-and = { $first }; { $next }
attempt-start = start
attempt-run = run
attempt-become-ready = become ready
attempt-watch = be watched
attempt-stop = stop
attempt-limit = be limited
attempt-get-disk = get a disk
attempt-get-clock = get a clock
attempt-get-password = get a password
attempt-get-port = get a port
attempt-get-network = get a network
attempt-end-sessions = end sessions
attempt-find = be found
attempt-copy-data = copy its data
attempt-become-standby = become a standby
attempt-write-password-file = write its password file
attempt-configure = be configured
attempt-replace-primary = be replaced as the primary
attempt-become-primary = become the primary
attempt-hand-over = hand over
attempt-rejoin = rejoin
attempt-promote = be promoted
attempt-create-replication-user = create the replication user
attempt-write = be written
attempt-report-health = report its health
attempt-report-replicas = report its replicas
attempt-create-database = create the application's database
attempt-describe = be described
attempt-report-server = report which server it connects to
attempt-replace = be replaced
attempt-create = be created
attempt-report-identity = report its identity
attempt-check = be checked
attempt-reach = be reached
attempt-use-transport = be connected by the planned transport
attempt-kill = be killed
attempt-create-certificate = create a certificate
attempt-reconnect = be reconnected to the network
attempt-disconnect = be disconnected from the network
attempt-freeze-disk = have its disk frozen
attempt-thaw-disk = have its disk unfrozen
attempt-shift-clock = have its clock shifted
attempt-fill-disk = have its disk filled
attempt-free-disk = have its disk freed
attempt-signal-process = send { $signal } to its process { $process }
attempt-signal = receive { $signal }
attempt-get = answer GET { $path }
attempt-release = be released from { $manager }
node-error = { $node } could not { $attempt }: { $reason }{ $log ->
    [none] {""}
   *[other] {"\u000A"}the last lines of its log:{"\u000A"}{ $log }
}
node-keeper-answered = unexpected response from the keeper: { $answer }
node-ended = it { $end }{ $reason ->
    [none] {""}
   *[other] : { $reason }
}
node-exited = exited with status { $status }
node-signalled = was ended by signal { $signal }
node-disk-full = its disk is full ({ $line })
node-fatal-error = last error in its log: { $line }
node-no-exit = the process did not exit within { $seconds } s
node-interrupted = the run was interrupted
node-not-ready = it was not ready within { $seconds } s; last answer: { $answer }
node-no-end = the keeper did not report its end
node-out-of-memory = { $reason }; it reached its memory limit, and the kernel killed { $count } of its processes
error-of = { $subject }: { $error }
keeper-no-program = the program `{ $program }` is not installed; install the package { $package }
keeper-command-failed = `{ $command }` failed: { $output }
keeper-no-directory = the keeper has no run directory
keeper-node-ended = it has ended
keeper-no-network = it has no network of its own
keeper-no-disk = it has no disk of its own
keeper-disk-frozen = its disk is frozen
node-no-clock = it has no clock of its own
node-no-faketime = libfaketime is not installed; on Debian and Ubuntu, install the package libfaketime
keeper-empty-command = the command is empty
keeper-ended-at-once = it ended immediately after its start: { $error }
keeper-invalid-order = the keeper cannot read the order: { $error }
keeper-ended = the process `pgdyno keeper` has ended: { $error }
machine-no-user = pgdyno runs as root and finds no user to run servers as; create the user `postgres` or `nobody`
machine-no-scratch = none of { $tried } is writable for the user that runs the servers; set TMPDIR
machine-no-cache = the cache directory is unknown; set XDG_CACHE_HOME or HOME
client-no-answer = no answer in time
client-closed = the server closed the connection
client-protocol = { $error }
client-answer-too-long = { $address }: the answer is longer than { $mebibytes } MiB
client-stopped = stopped by a signal
read-back-failed = { $query }: { $error }
read-back-several-columns = it must return one column, but returns several
capture-setting-timeout = the server does not apply log_min_duration_statement
capture-log-timeout = the server does not write the captured statements to its log
restore-no-database = the database { $database } does not exist
restore-foreign-database = pgdyno did not create the database { $database } and does not drop it; choose another database
restore-unmarked-database = pgdyno did not create the database { $database } and does not drop it; if it is empty and pgdyno may re-create it, run:  COMMENT ON DATABASE { $identifier } IS '{ $comment }'
restore-foreign-table = the database { $database } contains the table { $table }, which pgdyno did not create, and is not dropped; choose an empty database
restore-in-use = other sessions use the database { $database }; end them, or choose another database:{"\u000A"}  { $sessions }
source-unreadable = the source in `dataset.from` cannot be copied: { $error }
source-newer = it runs PostgreSQL { $source }, the measured server runs { $measured }; measure version { $source } or later
source-several-hosts = the address names several hosts; write one
source-is-measured = `dataset.from` is the measured database { $database }; write the address of another database in `attach`
restore-no-template = the template { $template } does not exist on this server; write the name of an existing database
restore-same-template = the template { $template } is the measured database; write the name of another database in `attach`
restore-template-in-use = sessions use the template { $template }, so it cannot be copied; nothing was dropped; end them:{"\u000A"}  { $sessions }
restore-no-createdb = the user { $user } may not create databases; as a superuser, run:  ALTER ROLE { $identifier } CREATEDB
restore-template-forbidden = the user { $user } may not copy the template { $template }, which belongs to { $owner }; as its owner, run:  ALTER DATABASE { $identifier } WITH IS_TEMPLATE true
dataset-foreign-table = the table { $table } exists, and pgdyno did not create it; choose another database, or drop the table
dataset-stopped = loading was stopped
dump-changed = { $path } has changed since the run was planned; run `pgdyno run` with the experiment file again
dump-program = { $program } is needed to restore the dump and is not installed; on Debian: `apt-get install { $package }`
dump-extensions = { $path } creates { $count ->
    [one] the extension
   *[other] the extensions
 } { $extensions }, which the server does not have; on Debian: `apt-get install { $package }`
dump-other-database = { $path }:{ $line }: `\connect` selects another database; make the dump of one database with `pg_dump`, without `--create`
dump-not-empty = the database { $database } contains { $table }, which is not from this dump; name an empty database
dump-no-table = the dump creates no table
dataset-table = table { $table }{ $column ->
    [none] {""}
   *[other] , column { $column }
}: { $message }
dataset-table-no-name = it has no name; write one, such as shop.goods
dataset-reserved-schema = the schema pgdyno is reserved; write another
dataset-no-columns = it has no columns; write at least one
dataset-column-no-name = a column has no name; write one
dataset-column-twice = it is declared twice; write another name
dataset-key-no-column = it is in the primary key but is not a column; write one of the columns
dataset-key-nulls = it is in the primary key, but some values are NULL; write nulls: 0
dataset-null-share = its share of NULLs is { $share }; write 0 to 1
dataset-exponent = the exponent s is { $exponent }; write one above 1, up to 1000, such as 1.2
dataset-large-range = the range holds more than 2^53 numbers; write a smaller one
dataset-empty-range = the range ends before it begins: { $min } > { $max }; write the smaller bound first
dataset-timestamp = "{ $text }" is no timestamp; write a date as 2024-01-01, or a timestamp as 2024-01-01 12:00:00
dataset-corner = a coordinate of the rectangle is not a finite number; write numbers
dataset-no-value = the list of values is empty; write at least one
dataset-field = field { $name }: { $error }
server-no-program = has no `{ $name }`
server-no-version = `postgres --version` fails
server-unknown-version = `postgres --version` prints "{ $line }"
server-other-version = is { $version }
origin-flag = the directory given
origin-debian = Debian's packages
origin-red-hat = Red Hat's packages
origin-embedded = embedded
server-rejected =   { $origin }: { $place } { $reason }
error-lines = { $first }{"\u000A"}{ $next }
server-places =   searched the directory that pg_config prints, PATH, and the directories of Debian, Red Hat, Homebrew and Postgres.app
server-not-found = no PostgreSQL { $major ->
    [none] {""}
   *[other] { $major }{" "}
}server was found on this machine{"\u000A"}{ $rejected }{"\u000A"}install one: { $install }{"\u000A"}or name its directory: PGDYNO_PG_BIN=/path/to/bin
download-versions = only PostgreSQL { $first } to { $last } can be downloaded
download-no-source = none is in the cache, and { $mirror } is not set; set it to the address of a Maven repository, or { $archive } to an archive file
download-architecture = there is no archive for { $architecture }
download-checksum = { $address } has the SHA-256 checksum { $found } instead of { $expected }; use another mirror
archive-unknown-format = the file is neither a JAR nor a tar file compressed by xz or gzip
archive-no-tar-file = the JAR contains no .txz file
download-failed = PostgreSQL { $major } could not be downloaded: { $reason }{ $install ->
    [none] {""}
   *[other] {"\u000A"}to install it: { $install }
}
error-unusable = { $place } { $reason }
program-not-found = no { $name }{ $oldest ->
    [none] {""}
   *[other] {" "}{ $oldest } or newer
} was found on this machine{ $tried ->
    [none] {""}
   *[other] : { $tried }
}
program-no-postgres = no PostgreSQL { $major ->
    [none] {""}
   *[other] { $major }{" "}
}was found on this machine{ $download ->
    [none] {""}
   *[other] , and none could be downloaded: { $download }
}
program-not-run = cannot be run: { $error }
program-no-version = prints "{ $line }" for { $argument }
program-unavailable = { $reason }{"\u000A"}to install it: { $install }
invalid-node-no-upstream = no node is behind it; add one
invalid-node-no-certificate = it uses TLS, but the stack has no certificate
invalid-node-too-old = { $product } { $version } is not supported; install { $product } { $oldest } or newer
invalid-node-setting = `{ $setting }` requires { $product } { $since } or newer
invalid-node-mode = { $product } has no { $mode } mode; choose another `mode`
invalid-node-transport = { $reason }; write { $allowed }{ $node ->
    [none] {""}
   *[other] {" "}for { $node }
}
invalid-node-socket-directories = { $product } has one directory for sockets, and { $upstream } uses another; write `transport: tcp` for one of them
invalid-node-no-check = a balancer of several servers must check which one is the primary; set `check`
invalid-node-path = { $product } cannot request the path "{ $path }"; use one without spaces, quotes, `\` and `#`
invalid-node-no-value = { $variable } has no value in this stack
invalid-node-variable = pgdyno itself sets the environment variable { $name }; remove it from `env`
haproxy-behind-without-tls = HAProxy passes TLS through, and { $node } does not use it
haproxy-behind-with-tls = HAProxy passes TLS through, and { $node } requires it
haproxy-listens-by-tcp = a balancer of several servers listens by TCP
haproxy-connects-by-tcp = a balancer connects to several servers by TCP
haproxy-http-without-tls = a balancer of services takes HTTP without TLS
service-listens-by-tcp = a service listens by TCP
service-connects-by-tcp = a service connects to its database by TCP
haproxy-no-version = it does not report its version
haproxy-roles = it knows { $primaries } primaries and { $replicas } replicas among { $servers } servers
patroni-answer = Patroni returns status { $status }{ $text ->
    [none] {""}
   *[other] : { $text }
}
node-sessions-left = { $sessions } sessions are left
node-not-started = pgdyno started no node of this name
node-too-few-replicas = { $answers } replicas respond; { $needed } are required
node-no-replica = no replica has this name
node-no-other-server = no other server than the primary has this name
node-in-recovery = it is in recovery
node-manager-decides = { $manager } itself decides which replica to promote
node-without-replicas = it has no replicas
node-replicas-follow = { $streaming } of { $followers } replicas follow, { $confirming } confirm
node-no-network = all addresses of 198.18.0.0/16 are in use
node-upstream-http = it sends SQL, but { $upstream } behind it takes HTTP requests
node-no-verification = it cannot verify the certificate of the attached node; write sslmode=require in the connection string
node-answers = it responds to GET { $path } with status { $status }
node-standbys-recorded = { $manager } has recorded { $recorded } of { $required } synchronous standbys
node-no-manager = no cluster manager controls it
node-no-server-runs = no server runs
node-no-writable = no other server accepts writes
node-no-postgres = the stack has no PostgreSQL server
node-other-transport = the plan requires { $planned }, but the connection uses { $actual }
node-no-process = it has no such process
node-missing = the stack does not contain it
node-missing-server = the stack has no such server
node-not-running = it does not run
node-no-connection = { $address } accepts no connection: { $error }
node-starting = the program has just started
node-get-answered = GET { $path } returns status { $status }
attach-login-timeout = { $address }: no answer to the login within { $seconds } s (`connect_timeout` in the address changes that)
attach-no-database = { $error }; run in another database:  CREATE DATABASE { $database }
dsn-password = its connection string contains a password; set PGPASSWORD or use a password file
dsn-not-utf8 = the environment variable { $name } is not UTF-8
# Errors in connection strings: where, what was found there, and what to write instead. What libpq reports too has
# libpq's words.
conninfo-character = connection string, character { $position }
conninfo-option = option { $name }
conninfo-variable = environment variable { $name }
conninfo-service-line = service file { $file }, line { $line }
conninfo-database-name = database name
conninfo-unknown-scheme = an unknown kind of URI
conninfo-missing-equals = missing "=" after "{ $name }" in connection info string
conninfo-unterminated = unterminated quoted string in connection info string
conninfo-text-after-password = the text after the password is not a connection option
conninfo-unknown-option = { $name ->
    [none] no connection option
   *[other] invalid connection option "{ $name }"
}
conninfo-nul = a NUL in the value of { $name }
conninfo-unsupported = { $name }={ $value } is not supported
conninfo-invalid-value = invalid { $name } value: "{ $value }"
conninfo-invalid-integer = invalid integer value "{ $value }" for connection option "{ $name }"
conninfo-invalid-port = invalid port number: "{ $port }"
conninfo-invalid-address = could not parse network address "{ $address }"
conninfo-host-count = could not match { $names } host names to { $addresses } hostaddr values
conninfo-port-count = could not match { $ports } port numbers to { $hosts } hosts
conninfo-no-user = no user name is known
conninfo-weak-sslmode = weak sslmode may not be used with sslrootcert=system
conninfo-mixed-methods = negative methods cannot be mixed with non-negative ones
conninfo-method-twice = "{ $method }" is specified more than once
conninfo-unusable-file = file "{ $path }" does not exist or must not be used
conninfo-at-after-slash = an @ after the first /
conninfo-second-at = a second @ before the host
conninfo-missing-bracket = end of string reached when looking for matching "]" in IPv6 host address in URI
conninfo-empty-address = IPv6 host address may not be empty in URI
conninfo-unexpected-character = unexpected character { $character } in URI (expected ":" or "/")
conninfo-missing-separator = missing key/value separator "=" in URI query parameter
conninfo-extra-separator = extra key/value separator "=" in URI query parameter
conninfo-invalid-token = invalid percent-encoded token{ $token ->
    [none] {""}
   *[other] : { $token }
}
conninfo-encoded-nul = forbidden value %00 in percent-encoded value
conninfo-encoded-not-utf8 = percent-encoded bytes that are not UTF-8
conninfo-no-service = definition of service "{ $service }" not found
conninfo-no-service-file = service file "{ $path }" not found
conninfo-service-syntax = syntax error in service file
conninfo-nested-service = nested service specifications not supported
conninfo-blank-before-equals = a blank before "="
conninfo-ldap = an LDAP address
conninfo-write-scheme = begin it with postgresql://
conninfo-write-keyword-value = write keyword=value
conninfo-write-quoted = write keyword=value; quote a value with blanks by '…'
conninfo-write-without-blanks = write keyword=value without blanks
conninfo-close-quote = end it with '; write ' itself as \'
conninfo-quote-password = quote a password with blanks by '…'
conninfo-similar-option = did you mean { $name }?
conninfo-option-list = the PostgreSQL manual lists them under "Parameter Key Words"
conninfo-leave-out = leave it out
# What pgdyno does instead of what the setting requests.
conninfo-write-fixed = { $name ->
    [sslnegotiation] TLS always begins with SSLRequest: write postgres
    [sslcompression] TLS is never compressed: write 0
    [sslpassword] encrypted keys cannot be read: decrypt the key with `openssl pkey` and leave this out
    [sslcrl] revocation lists are not read: leave this out
    [sslcrldir] revocation lists are not read: leave this out
    [sslsni] the server's name is always sent: write 1
    [requirepeer] the owner of the server's socket is not checked: leave this out
    [gssencmode] GSSAPI is not supported: write disable
    [replication] replication is not supported: leave this out
   *[other] leave it out
}
conninfo-write-one-of = write one of { $values }
conninfo-write-some-of = write some of { $values }
conninfo-write-integer = write a whole number
conninfo-write-port = write a number from 1 to 65535
conninfo-write-ports = write one port for all hosts, or one port for each host
conninfo-write-address = write an IP address here, or the name as host
conninfo-write-equal-counts = write equally many of both
conninfo-write-user = write user=NAME
conninfo-write-verify-full = write verify-full
conninfo-write-tls-version = write TLSv1.2 or TLSv1.3
conninfo-write-sslrootcert = write sslrootcert=FILE with the certificates that may sign the server's, or sslmode=require
conninfo-write-once = write it once
conninfo-negate-all = write ! before all methods or before none
conninfo-readable-file = name a file that can be read
conninfo-private-key = name a key that only you can read (chmod 600)
conninfo-pem-file = name a file in PEM format
conninfo-both-or-none = specify both, or neither
conninfo-matching-key = name the key that belongs to sslcert, unencrypted
conninfo-encode-slash = write / as %2F, and @ as %40, in a user's name or password
conninfo-encode-at = write @ as %40 in a user's name or password
conninfo-encode-ampersand = write & as %26 in a password
conninfo-encode-equals = write = as %3D in a value
conninfo-encode-percent = write two hexadecimal digits after %, and % itself as %25
conninfo-encode-utf8 = write them in UTF-8
conninfo-close-bracket = end the address with ]
conninfo-write-brackets = write it between [ and ]
conninfo-write-port-database = write the port after :, the database after /
conninfo-write-section = write a section [{ $service }] into one of { $files }
conninfo-write-settings = write that service's settings here
conninfo-no-ldap = write the settings themselves: LDAP is not supported
tls-missing-roots = sslmode requires verification of the server's certificate, but sslrootcert is missing
tls-incomplete-identity = a client certificate needs both sslcert and sslkey; { $missing } is missing
tls-unusable-key = the client certificate cannot be used: { $reason }
tls-other-key = the client certificate cannot be used: sslcert is not the certificate of the key in sslkey
tls-version-range = ssl_min_protocol_version is above ssl_max_protocol_version
guard-other-run = another pgdyno is running against { $target } ({ $run }), and each would measure the other's load; wait until it has ended
guard-no-permission = { $target } does not permit load; to permit it, run there:  CREATE SCHEMA { $schema }
guard-active-sessions = active sessions of others in { $target }: { $active }{ $hidden ->
    [0] {""}
   *[other] , { $hidden } of them visible only to members of pg_read_all_stats
}; end them and wait 10 s, or write `caps: {"{"} other_sessions: { $active } {"}"}`
guard-service-no-permission = { $target } does not permit load: it responds to GET { $page } with status { $status }; to permit load, respond with the body `allowed`, or respond to { $ready } with the header `Pgdyno: allowed`
guard-not-allowed = { $target } { $location }; if it is yours and you may put load on it, add `allow: "{ $target }"` next to its address
location-this-machine = is on this machine
location-other-machine = is on another machine
location-unproven = is not shown to be on this machine: { $reason }
path-other-server = stack.{ $name }.attach ({ $place }) connects to { $reached }, but stack.{ $server }.attach ({ $expected_place }) is { $expected }: { $difference }. Write the address of the server behind { $name } in stack.{ $server }.attach, or leave { $server } out
path-two-of-one-system = these are two servers of one system, such as a primary and its replica
path-two-servers = these are two servers
path-two-databases = these are two databases of one server
path-identity = database "{ $database }" of the server at { $address } ({ $system ->
    [none] {""}
   *[other] system identifier { $system },{" "}
}started { $started } UTC)
limits-no-controller = the control group controller `{ $name }` is not available
limits-no-disk = the data is on { $kind }, which is not a disk that can be throttled
limits-cpus-only = it may run on { $cpus } only
plan-several-statements = it consists of several statements
plan-unreadable = its plan could not be read
plan-attached = the server is attached, so pgdyno creates nothing there; statements that write were not planned, so those that would have to maintain an index are unknown
plan-no-hypopg = the extension HypoPG is not installed on this server
attach-several-hosts = the address names several hosts, but not which of them to use; add `target_session_attrs=read-write`
attach-in-recovery = { $address } is in recovery
attach-no-address = its address leads nowhere
install-package = ./x setup, or apt-get install { $package }
install-odyssey = ./x setup unpacks it on Debian; elsewhere build it and name it: PGDYNO_ODYSSEY=/path/to/odyssey
install-service = build it; ./x services builds pgdyno's own services or reports what is missing
service-without-command = the service has neither a command nor a url
service-no-program = the program { $program } does not exist
hook-failed = the command of `{ $hook }` failed: { $reason }
service-no-file = the file { $file } does not exist
service-unreadable = pgdyno runs as root and starts services as the user { $user }, who cannot read { $path }
service-unreadable-remedy = move the experiment and its programs to a directory that every user can read
limits-no-cpu = there is no CPU { $number }; the CPUs of this machine are { $online }
location-no-process-error = it does not report its process ID ({ $error })
location-no-process = it does not report its process ID
location-other-process = its address is { $address }, and this machine does not run its process { $pid }
location-forwarder = { $program } listens there and may forward to another machine
listener-found = its CPU and memory are those of the program { $program } that listens at { $address }, and of its child processes. pgdyno found the program by the address
listener-other-program = the program { $program } listens at { $address }. It is not the program of this node, so the CPU and memory of the node are unknown. The charts show those of { $program } as `{ $name }`
listener-none = no program listens at { $address } on this machine, outside of containers, so the CPU and memory of the node are unknown
listener-hidden = this user may not inspect the program that listens at { $address }, so the CPU and memory of the node are unknown. Run pgdyno as the user of that program, or as root
dataset-no-table = no table is declared; write at least one
dataset-table-twice = it is declared twice; write another name
probe-page = { $page }: { $reason }
probe-page-long = the page has more than { $most } MB
probe-same-host = the host is already sampled as { $other }; write one URL for all nodes on this host, and none for this machine
probe-many-values = { $name } has more than { $most } combinations of labels; only the first { $most } are stored
probe-no-metrics = the page never had { $names }
probe-unreadable = { $line ->
    [none] the answer
   *[other] line { $line } of the answer
} has no { $expected }


### Failed trials: failure-

failure-nothing-succeeded = no transaction succeeded{ $reason ->
    [none] {""}
   *[other] : { $reason }
}
    .requests = no request succeeded{ $reason ->
        [none] {""}
       *[other] : { $reason }
    }
failure-clients-aborted = { $aborted } of { $clients } clients aborted, because their script could not continue{ $reason ->
    [none] {""}
   *[other] : { $reason }
}
failure-operation = operation { $operation }: { $reason }
failure-operation-never-succeeded = none of { $arrivals } transactions succeeded{ $reason ->
    [none] {""}
   *[other] : { $reason }
}
    .requests = none of { $arrivals } requests succeeded{ $reason ->
        [none] {""}
       *[other] : { $reason }
    }
failure-stop-rule = { $rule } at second { $second }
failure-blind-rule = never had a value
failure-on-start = clients repeated these requests after a failure; the first one: { $reason }
failure-disk-full = the disk with the run's file is full
failure-disk-slow = the disk with the run's file is too slow to keep up
failure-not-written = the run's file could not be written: { $cause }
failure-freshness-probe = cannot read from the replicas: { $error }
failure-load-start = cannot start the load: { $error }
failure-no-client-connected = no client could connect or log in{ $reason ->
    [none] {""}
   *[other] : { $reason }
}
failure-feed-needs-server = a feed with a query requires PostgreSQL in the stack
failure-feed-connection = the query of a feed cannot be run: { $error }
failure-dataset-needs-server = a dataset requires PostgreSQL at the end of the chain
failure-data-left = the loaded data could not be dropped: { $error }
failure-post-load = { $statement }: { $error }
failure-node-ended = { $node } { $end } during the trial{ $reason ->
    [none] {""}
   *[other] : { $reason }
}
failure-out-of-memory = { $node } ran out of memory: the kernel killed some of its processes


### The command `capture`: capture-

capture-nothing = no statement of the logs can be sent again
capture-written = Wrote { $path }: { $requests } requests of { $sessions } sessions in { $duration }.
capture-statement = { $name }: { $share } of the requests
capture-more = { $more ->
    [one] and one more statement
   *[other] and { $more } more statements
}
capture-left-out = { $count ->
    [one] one statement is left out
   *[other] { $count } statements are left out
}: { $reason }

### The command `record`: record-

record-listening = Clients connect to { $listen }. Their requests are forwarded to { $to } and recorded. Ctrl-C ends the recording.
record-certificate = no certificate can be made: { $reason }
record-no-certificate = --tls-cert: { $path } contains no PEM certificate; write a file that begins with -----BEGIN CERTIFICATE-----
record-no-key = --tls-key: { $path } contains no PEM private key without a password; write the file with the key of the certificate
record-other-key = --tls-key: { $key } is not the key of the certificate in { $certificate }; write the files of one pair
record-channel-binding = the server offers SCRAM-SHA-256-PLUS, which cannot pass the proxy, because the certificates differ. Logins of clients over TLS fail: set channel_binding=disable in these clients, or use the server's certificate and key as --tls-cert and --tls-key
record-connect-failed = the server cannot be reached: { $error }. The client gets this error
record-accept-failed = no connection can be accepted: { $error }
record-writing-failed = the recording cannot be written: { $error }. Requests are still forwarded, but not recorded
record-nothing = no request was recorded
record-http-listening = Clients connect to { $listen }. Their requests are forwarded to { $to } and recorded. Ctrl-C ends the recording.
record-http-url = --to is not the address of an HTTP service; with --http, write scheme, host and port, such as http://127.0.0.1:8080
record-http-written = Wrote { $path }: { $requests ->
    [one] one request
   *[other] { $requests } requests
}. { $secrets ->
    [0] It contained no secret.
    [one] A placeholder replaces one secret.
   *[other] Placeholders replace { $secrets } secrets.
} To make an experiment: pgdyno import { $path }
record-http-cut = { $count ->
    [one] one body is longer than 1 MiB; only its beginning is recorded
   *[other] { $count } bodies are longer than 1 MiB; only their beginnings are recorded
}
record-http-binary = { $count ->
    [one] one body is not recorded
   *[other] { $count } bodies are not recorded
}: no text in UTF-8, or compressed with another method than gzip and deflate
record-http-past = { $count ->
    [one] one redirect contains
   *[other] { $count } redirects contain
} the service's own address, so that clients leave the proxy: configure the service to use the Host header or relative addresses
record-http-upgraded = { $count ->
    [one] one connection changed
   *[other] { $count } connections changed
} to another protocol, such as WebSocket, and was forwarded without a recording
record-http-unreadable = { $count ->
    [one] one connection was forwarded without a recording
   *[other] { $count } connections were forwarded without a recording
}, because it is not HTTP/1
record-http-unfinished = { $count ->
    [one] one request
   *[other] { $count } requests
} without a complete response
record-http-overflow = { $count ->
    [one] one request is
   *[other] { $count } requests are
} left out, because the recording has reached its limit of 256 MiB

### The command `distil`: distil-

distil-log = { $path }: { $reason }
distil-unknown-format = the format of the log is not known; give the server's `log_line_prefix` with --log-line-prefix
distil-no-statement = the logs contain no statement in English; set `log_min_duration_statement = 0` and `lc_messages = 'C'`. Skipped: { $skipped }
distil-wrong-format = most entries are not in the detected format; give the server's `log_line_prefix` with --log-line-prefix. { $skipped }
distil-several-databases = the logs contain statements of several databases: { $databases }; select one with --database
distil-no-database = the logs contain no statement of the database { $database }
distil-no-operation = no transaction can be part of an experiment: { $left_out }
distil-out = { $path } is not a name for an experiment file; write 1 to 40 lowercase letters, digits and hyphens, and .yaml
distil-exists = { $path } exists already; nothing was written
distil-note = Written by pgdyno distil { $version } from { $logs }.
distil-read = { $statements ->
    [one] { $statements } statement
   *[other] { $statements } statements
 } in { $transactions ->
    [one] { $transactions } transaction
   *[other] { $transactions } transactions
 } of { $sessions ->
    [one] { $sessions } session
   *[other] { $sessions } sessions
 }; the operations cover { $coverage } of the statements.
distil-operation = operation { $name }: { $share } of the transactions, { $statements ->
    [one] { $statements } statement
   *[other] { $statements } statements
 }{ $rows ->
    [0] {""}
    [one] , feed with { $rows } row
   *[other] , feed with { $rows } rows
 }
distil-written = Wrote { $path }{ $feeds ->
    [0] {""}
    [one] {" "}and { $feeds } feed
   *[other] {" "}and { $feeds } feeds
 }. Set its address under `stack`, then:  pgdyno check { $path } --connect
distil-statements = { $source }: { $reason }
distil-no-extension = the database has no extension pg_stat_statements; connect to a database of the server that has it, or run `CREATE EXTENSION pg_stat_statements`
distil-no-statistics = pg_stat_statements has no statement of this database that can be an operation{ $left_out ->
    [none] {""}
   *[other] : { $left_out }
 }
distil-statements-note = Written by pgdyno distil { $version } from pg_stat_statements, { $source }.
distil-statements-read = { $calls ->
    [one] { $calls } call
   *[other] { $calls } calls
 } of statements; the operations cover { $coverage } of the calls.
distil-deallocations = The server dropped the statements with the fewest calls { $count ->
    [one] once
   *[other] { $count } times
 }, so rare statements are missing: `pg_stat_statements.max` is too small.
distil-statements-operation = operation { $name }: { $calls } of the calls, { $time } of the time
distil-skeleton-written = Wrote { $path }. { $fill_ins ->
    [0] All values are drawn from tables. Set its address under `stack`, then:  pgdyno check { $path } --connect
    [one] One value is to be filled in (FILL_IN):  pgdyno check { $path }
   *[other] { $fill_ins } values are to be filled in (FILL_IN):  pgdyno check { $path }
 }

### The command `import`: import-

import-file = { $path }: { $reason }
import-origin = { $origin } is not the address of a service; write it as in --origin=https://shop.test
import-no-operation = no request can be part of an experiment: { $left_out }
import-nothing = the file contains no request
import-note = Written by pgdyno import { $version } from { $file }.
import-read = { $requests ->
    [one] { $requests } request
   *[other] { $requests } requests
 } read{ $redirects ->
    [0] {""}
    [one] , { $redirects } of them a redirect that pgdyno follows
   *[other] , { $redirects } of them redirects that pgdyno follows
 }.
import-operation = operation { $name }{ $weight ->
    [none] {""}
   *[other] , weight { $weight }
 }{ $steps ->
    [one] {""}
   *[other] , { $steps } steps
 }{ $captures ->
    [none] {""}
   *[other] , captures { $captures }
 }{ $fill ->
    [true] , values to fill in
   *[false] {""}
 }
import-cookies = { $requests ->
    [one] { $requests } request has
   *[other] { $requests } requests have
 } cookies that no response in the file sets; they are removed. Add the log-in that sets them, or a header such as `Cookie: "session=${"{"}env:SESSION{"}"}"` in place of `cookies: true`
import-secrets = Set these environment variables before a run; the file does not contain their values:
import-written = Wrote { $path }. Next:  pgdyno check { $path }, then  pgdyno try { $path }

### Notes of a run: note-

note-subject-address = address
note-subject-no-plans = no plans
note-omitted = too long to be stored: { $mebibytes } MiB


### Errors of run files: store-

# The messages `store-attempt-…` are verb phrases of `store-attempt-failed`.
store-attempt-request-stop = request the end of "{ $path }"
store-attempt-begin = begin "{ $path }"
store-attempt-find = find "{ $path }"
store-attempt-resume = continue "{ $path }"
store-attempt-list = list "{ $path }"
store-attempt-create = create "{ $path }"
store-attempt-open = open "{ $path }"
store-attempt-read = read "{ $path }"
store-attempt-remove = remove "{ $path }"
store-attempt-start-thread = start a thread that writes "{ $path }"
store-attempt-write = write "{ $path }"
store-invalid-name = "{ $name }" cannot name a run: it needs 1 to 64 of a-z, 0-9 and -
store-attempt-failed = could not { $attempt }: { $error }
store-not-run = "{ $path }" is not a run of pgdyno
store-empty = "{ $path }" is empty: pgdyno was ended before anything was measured
store-newer-version = "{ $path }" has format { $version }, and this pgdyno knows those up to { $known }
store-damaged = "{ $path }" is damaged: { $damage }
store-damage-work = reading it takes more work than a file of its length can need
store-damage-value = `{ $place }` contains an impossible value{ $trial ->
    [none] {""}
   *[other] , in trial { $trial }
}
store-damage-missing = it has no { $kind } "{ $name }"
store-damage-distributions = trial { $trial } declares { $distributions } distributions per second, more than a file may contain
store-damage-json = invalid JSON: { $error }
store-object = the { $kind ->
    [virtual] virtual table
   *[other] { $kind }
} "{ $name }"
store-attempt-reserve = reserve 4 MiB for "{ $path }"
store-unreadable-fact = cannot read the fact "{ $kind }"{ $trial ->
    [none] {""}
   *[other] {" "}of trial { $trial }
} in "{ $path }": { $reason }; the file was created by pgdyno { $program }: read it with that version, or restore an unchanged copy
store-unexpected-schema = "{ $path }" is not read: { $object } in it is not as pgdyno makes it, and reading it could run a stranger's program; use the file only if you know who changed it, and remove that first
store-write-ahead = "{ $path }" is in SQLite's write-ahead mode, which another program set: undo it with  sqlite3 "{ $path }" "PRAGMA journal_mode = delete"
store-hostile-journal = "{ $path }" is not read: its journal "{ $path }-journal" is not one that pgdyno leaves, and taking it back could change other files; remove both, or the journal alone if you know where it comes from
store-value-too-long = "{ $path }" holds a value of more than { $mebibytes } MiB, and pgdyno writes none so long
store-out-of-memory = "{ $path }" holds more of one kind than { $gibibytes } GiB of memory, and cannot be read at once
store-not-found = there is no run "{ $path }"
store-busy = "{ $path }" is being written
store-fact-unknown-kind = unknown kind
store-fact-version = version { $version }, but this pgdyno reads versions up to { $newest }

### Recorded traffic: traffic-

traffic-log-unreadable = cannot read the log after line { $line }: { $error }
traffic-log-no-csv = line { $line } is not an entry of `csvlog`, and neither is any other line; a record has at least 23 columns, of which the first is a timestamp
traffic-log-no-json = line { $line } is not an entry of `jsonlog`, and neither is any other line; an entry is an object with the members timestamp, error_severity and pid
traffic-log-no-prefix = line { $line } does not begin with the prefix "{ $prefix }", and neither does any other line; write the server's `log_line_prefix`, and read logs whose messages are in English
traffic-prefix-escape = unknown escape { $escape } in the prefix "{ $prefix }"; write the server's `log_line_prefix`
traffic-prefix-time = the prefix "{ $prefix }" has no time; statements have an order only with %m, %t or %n
traffic-prefix-session = the prefix "{ $prefix }" has no session; statements belong to sessions only with %c or %p
traffic-prefix-long = the prefix "{ $prefix }" is too long
traffic-skipped = { $count ->
    [one] { $count } entry
   *[other] { $count } entries
}: { $kind } (first in line { $line }{ $input ->
    [1] {""}
   *[other] {" "}of log { $input }
})
traffic-skipped-malformed = not in the format of the log
traffic-skipped-encoding = not UTF-8
traffic-skipped-other = other messages
traffic-skipped-parse = durations of parse and bind, which belong to an execution
traffic-skipped-fetch = further rows of an execution
traffic-skipped-duration = durations without a statement
traffic-skipped-plan = plans of auto_explain
traffic-skipped-error = errors without their statement; set `log_min_error_statement = error`
traffic-skipped-parameters = parameters that cannot be read
traffic-no-recording = the file is no recording; `pgdyno record` and `pgdyno capture` make recordings
traffic-recording-incomplete = the recording was not finished, or the file is cut off; record or copy it again
traffic-recording-damaged = the contents do not match their checksum; record or copy the file again
traffic-unrecorded-copy = COPY, whose data are not in the log
traffic-unrecorded-secret = statements with a password
traffic-unrecorded-parameters = the log does not contain their parameters; set `log_parameter_max_length = -1`
traffic-unrecorded-unreadable = a quote or comment is not closed
traffic-unrecorded-length = longer than the limit: 4 GiB from logs, 64 MiB from the recording proxy
traffic-unrecorded-unfinished = the connection ended before the client had sent the whole request
traffic-unrecorded-overload = the recording was not written as fast as the clients sent requests
traffic-left-out = { $transactions ->
    [one] { $transactions } transaction
   *[other] { $transactions } transactions
} ({ $share } % of the statements): { $reason }
traffic-left-out-rare = rare
traffic-left-out-failed = a statement failed
traffic-left-out-unfinished = the log does not contain their end
traffic-left-out-copy = COPY from or to the client, whose data are not in the log
traffic-left-out-prepare = PREPARE, EXECUTE or DEALLOCATE as SQL, which depend on earlier transactions
traffic-left-out-secret = statements with a password
traffic-left-out-session = they change the state of their session, such as SET, LISTEN or pg_advisory_lock
traffic-left-out-administration = statements that change the schema, the configuration or permissions
traffic-left-out-unreadable = a quote or comment is not closed
traffic-left-out-parameters = the log does not contain their parameters; set `log_parameter_max_length = -1`
traffic-left-out-anonymise = constants that cannot be anonymised, such as escape strings
traffic-left-out-inexpressible = no statement, too many parameters, a colon before a name within quotes, or AND CHAIN
traffic-skeleton-left-out = { $statements ->
    [one] { $statements } statement
   *[other] { $statements } statements
} ({ $calls } % of the calls, { $time } % of the time): { $reason }
traffic-skeleton-rare = rare
traffic-skeleton-hidden = the server does not show the text; connect as a member of `pg_read_all_stats`
traffic-skeleton-nested = executed inside of functions, which other statements call
traffic-skeleton-transaction = transaction control, such as BEGIN and COMMIT
traffic-skeleton-utility = utility statements, and statements that change the session or the server
traffic-skeleton-monitoring = they read only system catalogs and statistics
traffic-skeleton-pgdyno = pgdyno's own
traffic-export-csv = not CSV: { $reason }
traffic-export-column = the first line has no column `{ $column }`; export the view with `psql --csv -c 'SELECT * FROM pg_stat_statements'`
traffic-export-number = line { $line }: `{ $text }` in the column `{ $column }` is not a number
traffic-web-encoding = the file is not UTF-8 text: byte { $byte } is not valid
traffic-web-syntax = line { $line }, column { $column }: { $reason }
traffic-web-value = `{ $place }` is missing or has another type; expected: { $expected ->
    [list] a list
    [object] an object
   *[text] a text
}
traffic-web-unknown-format = the file is neither a HAR file, nor a list of curl commands, nor an OpenAPI description
traffic-web-openapi-version = the description has the version { $version } of OpenAPI; versions 3.0 and 3.1 can be read
traffic-web-curl-skipped = the command in line { $line } is left out: { $reason }
traffic-web-curl-option = an experiment cannot express the option { $option }
traffic-web-curl-unknown = the option { $option } is not known
traffic-web-curl-value = the value of the option { $option } is missing
traffic-web-curl-file = the option { $option } reads a file; write the content instead
traffic-web-curl-url = it has no URL
traffic-web-curl-quote = a quote is not closed
traffic-web-left-out = { $requests ->
    [one] { $requests } request
   *[other] { $requests } requests
} left out: { $reason }
traffic-web-left-out-origin = to { $origin }; select another service with --origin
traffic-web-left-out-static = static files; keep them with --with-assets
traffic-web-left-out-preflight = OPTIONS requests by which browsers ask for permission
traffic-web-left-out-websocket = WebSocket connections
traffic-web-left-out-event-stream = responses that do not end (server-sent events)
traffic-web-left-out-no-response = without a response
traffic-web-left-out-cached = answered by the browser's cache
traffic-web-left-out-method = method { $method }, which pgdyno does not send
traffic-web-left-out-scheme = without a valid URL of HTTP
traffic-web-left-out-binary = the body is not text, or is not in the file
traffic-web-left-out-long = the body is longer than 16 KiB
traffic-web-left-out-body = GET or HEAD with a body
traffic-web-left-out-too-many = more than an experiment file can contain
traffic-web-secret = { $name }: value of "{ $field }"
traffic-web-secret-basic = { $name }: user and password in Base64, as printed by  printf %s user:password | base64
traffic-web-secret-cookie = { $name }: value of the cookie "{ $field }", which a request repeats outside of its cookies; pgdyno cannot capture cookies
traffic-web-secret-required = { $name }: credentials that the description requires ("{ $field }")

### Logs of servers and services: logs-

logs-heading = Logs of servers and services
logs-deadlocks = Deadlocks by their statements, without values; sums over all trials
logs-column-statements = statements
logs-column-relation = relation
logs-column-locks = waited for
logs-column-first = first
logs-unknown-statements = the log does not show the statements
logs-more-rows = { $count ->
    [one] { $count } more row
   *[other] { $count } more rows
 } in the JSON document
logs-slow = Statements that PostgreSQL logged as slow; sums over all trials
logs-slow-statements = Slow statements by their text, without values
logs-messages = Messages in the logs that differ in more than numbers
logs-folded = { $name } ({ $count })
logs-column-threshold = log_min_duration_statement
logs-column-per-thousand = per 1000 transactions
logs-column-mean = mean
logs-column-node = node
logs-column-kind = kind
logs-column-message = message
logs-column-first-line = first
logs-column-last-line = last
logs-further-lines = further lines, whose text was not stored

### States of sessions, pools and servers: states-

states-heading = Sessions, pools and balanced servers
states-sessions = Sessions of PostgreSQL; mean (maximum) of the samples of all trials
states-pools = Pools; mean (maximum) of the samples of all trials
states-servers = Servers of the balancer; mean (maximum) of the samples, and sums over all trials
states-gauge = { $mean } ({ $max })
states-column-application = application
states-column-user = user
states-column-client = client
states-column-state = state
states-column-sessions = sessions
states-column-pool = pool
states-column-clients-active = clients active
states-column-clients-waiting = clients waiting
states-column-longest-wait = longest wait
states-column-servers-active = server connections active
states-column-servers-idle = server connections idle
states-column-size = pool size
states-column-reserve = reserve
states-column-connections = connections of the database
states-column-paused = paused
states-column-server = server
states-column-up = up
states-column-begun = sessions begun
states-column-queue = queue
states-column-connection-errors = failed connections
states-column-response-errors = invalid responses
states-column-retries = retries

### Agents: agents-, and their NATS servers: nats-

nats-start = cannot start the NATS client: { $reason }
nats-unreachable = no NATS server answers at { $server }: { $reason }
    .help = start one with  nats-server , or name another with --nats; --local-agents starts a server and agents on this machine
nats-credentials = the NATS server at { $server } rejects the credentials: { $reason }
    .help = set NATS_CREDS, or NATS_USER and NATS_PASSWORD, or NATS_TOKEN
nats-closed = the connection to the NATS server is closed
nats-password-argument = the address of the NATS server contains a password, which every user of this machine can read
    .help = write --nats { $url }, and set NATS_USER and NATS_PASSWORD, or NATS_TOKEN
agents-none = no agent answers at { $server }
    .help = start agents with  pgdyno agent --nats { $server }
agents-missing = { $needed } agents are needed, but only { $leased } can be leased at { $server }: { $refused }
    .help = list the agents with  pgdyno agents
agents-refused = { $agent } { $reason }
agents-refused-label = does not have the required label { $label }
agents-refused-busy = works for another coordinator ({ $coordinator })
agents-refused-version = has version { $theirs } instead of { $ours }
agents-refused-silent = does not answer
agents-refused-key = sent an invalid key
agents-failed = agent { $agent }: { $reason }
agents-added = the agents limited the load, so the trial is repeated with { $agents ->
    [one] { $agents } agent
   *[other] { $agents } agents
}
agents-none-left = the agents limited the load, but no other idle agent matches
note-subject-agents = agents
agents-lost-lease = the agent has ended its lease, because it heard nothing from this coordinator for 3 seconds
agents-lost-silent = the agent has been silent for { $seconds } s
agents-lost-nats = the connection to the NATS server has been broken for { $seconds } s
agents-lost-damaged = a message could not be read
agents-not-allowed = the agent may not load { $target }, only { $allowed }
    .help = start the agent with --allow and the host
agents-wrong-network = { $text } is no network
    .help = write an address and the length of its prefix, as in 10.0.0.0/8
agents-no-driver = the driver { $driver } is not available on the agent's machine
    .help = add --driver=epoll
agents-loopback = the target { $target } is an address of this machine, but agent { $agent } runs on another one
    .help = name the target by an address that the agents can reach
bench-agent-lost = agent { $agent } did not complete its part; the load was smaller than planned
bench-agent-late = agent { $agent } learned { $late } too late when the window begins
bench-clock-uncertain = the clock of agent { $agent } is uncertain{ $uncertainty ->
    [none] {""}
   *[other] {" "}by { $uncertainty }
}, so its window may have begun earlier or later than those of the others
bench-agents-limit = the agents limited the load: { $agents ->
    [one] { $agents } agent was
   *[other] { $agents } agents were
} late or saturated{ $busy ->
    [none] {""}
   *[other] {" "}(busiest thread { $busy })
}; at least { $more } more would help
search-stop-agents = an agent was lost, late, or has an uncertain clock
experiment-generators-failover = a failover trial cannot use agents: its ledger records every write on this machine, before the write is sent
    .help = delete `generators`
experiment-generators-recorded = a load that sends recorded traffic cannot use agents
    .help = delete `generators`
experiment-generators-lost = { $other ->
    [none] `continue` is not possible: without the arrivals of a lost agent, the load is smaller than planned, and its objectives would be judged at another load than the planned one
   *[other] unknown outcome { $other }
}
    .help = write  lost: invalid ; a search and a matrix continue with another idle agent in their next trial
experiment-generators-password = the address of the NATS servers contains a user or a password
    .help = set the environment variables NATS_USER and NATS_PASSWORD, or NATS_TOKEN
agents-no-login = the login at { $target } has a setting that agents do not support: channel_binding or require_auth
    .help = remove it, or measure from this machine
agents-line = { $agent } on { $host }: { $cpus ->
    [one] { $cpus } CPU
   *[other] { $cpus } CPUs
}, { $files ->
    [none] any number of files
   *[other] { $files } files
}, { $ports } ports, drivers { $drivers }{ $jitter ->
    [none] {""}
   *[other] , timers late by { $jitter } at p90
}; labels: { $labels }; may load { $allowed }; { $coordinator ->
    [none] idle
   *[other] works for { $coordinator }
}{ $other ->
    [none] {""}
   *[other] ; version { $other } differs from this one
}
agents-heading = Agents
agents-caption = Each agent over all trials. Times and shares are those of the trial in which they were largest; quantiles are never averaged.
agents-column-agent = agent
agents-column-host = host
agents-column-threads = threads
agents-column-trials = trials
agents-column-ok = successful
agents-column-other = not successful
agents-column-p99 = p99
agents-column-send-lag = send lag p99
agents-column-busy = busiest thread
agents-column-jitter = timer jitter p99
agents-column-clock = clock uncertainty
agents-column-lost = lost
agents-name-taken = another agent at { $server } has the name { $name }
    .help = choose another one with --name
agents-refused-duplicate = is the name of several agents
agents-part = agent { $agent }: { $ok } of { $arrivals } arrivals successful{ $lag ->
    [none] {""}
   *[other] , send lag { $lag } at p99
}{ $clock ->
    [none] {""}
   *[other] , clock known to { $clock }
}


### Bound documents of several runs: document-

document-contents = Contents
document-goals = Goals
document-method = Method
document-acceptance = Acceptance criteria
document-results = Results
document-profile = Load profile
document-search = Search for the maximum
document-confirmation = Confirmation of the maximum
document-soak = Long-term load
document-grid = Comparison of settings
document-plans = Execution plans
document-advice = Index advice
document-conclusions = Conclusions
document-annex = Annex: commands and files to repeat the runs
document-table = Table { $number }{ $caption ->
    [none] {""}
   *[other] . { $caption }
}
document-figure = Figure { $number }. { $caption }
document-unfinished = This run is not complete ({ $state }). Its figures cover only the trials that ended.
document-invalid-trials = { $invalid ->
    [one] 1 trial
   *[other] { $invalid } trials
} of { $total } { $invalid ->
    [one] is
   *[other] are
} invalid and not part of the figures; see the caveats.
document-nothing-measured = This run has no figures.
document-level-not-held = No trial held the level, so there is no result.
document-figure-name = figure
document-figure-value = value
document-figure-detail = detail
document-profile-caption = Load profile and measured rates
document-profile-at-maximum = Load profile, and rates at the maximum
document-profile-share = share of the mix, %
document-profile-delivered-share = share of delivered, %
document-search-figure = { $cell ->
    [none] All steps of the search
   *[other] { $cell }: all steps of the search
} ({ $steps }): rates and response times by level. A cross marks a level that was not sustained, a ring a trial that does not count.
document-time-axis = time since the start of the window
document-lines-left-out = { $count ->
    [one] 1 more line is
   *[other] { $count } more lines are
} not drawn

bind-several = several runs need --bind, which makes one document of them
    .help = `pgdyno report --bind RUN RUN -o report.html`
bind-no-output = --bind needs the name of the document
    .help = add `-o report.html`, `-o report.pdf` or `-o report.docx`
bind-format = { $format } is not a format of a document
    .help = write `html`, `pdf` or `docx`
bind-format-alone = { $format } is a format of documents
    .help = add --bind
bind-binary-output = { $format } cannot be written to standard output
    .help = write `-o report.{ $format }`
bind-extension = the name { $path } does not tell the format
    .help = write a name that ends in `.html`, `.pdf` or `.docx`, or add --format
bind-texts-alone = --document needs --bind
    .help = `pgdyno report --bind RUN --document FILE -o report.html`
bind-no-texts = { $path } has no section `document`
    .help = add it, as in  document: {"{"} goals: "…" {"}"}
bind-no-browser = a PDF needs Chromium or Chrome, and PATH has none of { $programs }
    .help = install it, for example with  apt install chromium ; or write `report.html` and print it in a browser
bind-print-failed = { $program } could not print the document: { $error }
    .help = write `report.html` and print it in a browser
