# Russian. Grammar: https://projectfluent.org/fluent/guide
#
# Arguments are formatted already, except counts, which select plural forms; `none` is an absent argument.


### Numbers and units: number-

number-language = Русский
number-decimal-separator = ,
# Между числом и единицей или знаком процента.
number-gap = {"\u00A0"}
number-microseconds = мкс
number-milliseconds = мс
number-seconds = с
number-minutes = мин
number-hours = ч
number-bytes = Б
number-kibibytes = КиБ
number-mebibytes = МиБ
number-gibibytes = ГиБ
number-tebibytes = ТиБ
# Окончания без промежутка: частота, тысяча, миллион.
number-per-second = /с
number-thousand = к
number-million = М
# Окончания частей точной длительности и текст между частями.
number-days-part = {"\u00A0"}д
number-hours-part = {"\u00A0"}ч
number-minutes-part = {"\u00A0"}мин
number-seconds-part = {"\u00A0"}с
number-between-parts = {"\u00A0"}
# Тексты перед нижней и перед верхней границей диапазона.
number-range-from = от{" "}
number-range-to = {" "}до{" "}


### Summary of a benchmark: bench-


### Stop rules and objectives: stop-

stop-fired = { $rule } остановило нагрузку после секунды { $second }; началось это на секунде { $cause_second }, при { $rate }{"\u00A0"}транз/с
stop-never-measured = правило остановки { $rule } ни разу не получило значения: ни один узел с таким именем не пишет этот ряд

stop-tank-mask = здесь `{ $mask }` — любой код, кроме 0, как и сказано в руководстве Yandex.Tank; сам Tank с июня 2024 года сравнивает коды целиком и находит только те, в которых { $length ->
    [one] { $length } знак
    [few] { $length } знака
   *[many] { $length } знаков
 }
stop-tank-quantile = Yandex.Tank не хранит квантиль { $percent }, и его правило никогда бы не сработало; ему известны 25, 50, 75, 80, 90, 95, 98, 99 и 100
stop-tank-failed-times = здесь время есть только у успешных транзакций; Yandex.Tank учитывает и время неудачных
stop-tank-rounded = Yandex.Tank округляет { $limit }{"\u00A0"}мс до границы столбца своей гистограммы; здесь предел точен до 0,1{"\u00A0"}%
stop-tank-mean = здесь усредняются проценты отдельных секунд, а секунды без ответов пропускаются; Yandex.Tank считает такую секунду за 1{"\u00A0"}%, а в новейших версиях делит суммы за окно
stop-tank-missing = здесь секунда без значения ничего не меняет; Yandex.Tank читает её как 0
stop-tank-instances = здесь это доля клиентов; Yandex.Tank с Pandora требует для этого правила `startup: once`
stop-tank-unknown-rule = Yandex.Tank не знает этого правила

stop-objective-met = соблюдено: { $objective }: { $measured }
stop-objective-violated = НАРУШЕНО: { $objective }: { $measured }
stop-objective-unanswered = неизвестно: { $objective }: { $measured }, и до конца ответов не было
stop-objective-few = неизвестно: { $objective }: данных мало ({ $samples }); измеряйте дольше
stop-lower-quantile = даже меньший квантиль уже выше
stop-measured = { $value } ({ $samples })
stop-samples = { $count ->
    [one] { $count } замер
    [few] { $count } замера
   *[many] { $count } замеров
 }
stop-arrivals = { $count ->
    [one] { $count } заявка
    [few] { $count } заявки
   *[many] { $count } заявок
 }
stop-transactions = { $count ->
    [one] { $count } транзакция
    [few] { $count } транзакции
   *[many] { $count } транзакций
 }

stop-met = соблюдено
stop-violated = НАРУШЕНО
stop-unknown = неизвестно
# Первый вердикт списка; остальные: `stop-trials-next`.
stop-trials-first = { $verdict } в { $trials ->
    [one] { $trials } измерении
   *[other] { $trials } измерениях
 }
stop-trials-next = { $verdict } в { $trials }
stop-summary = { $objective }: { $verdicts }
stop-summary-worst = { $objective }: { $verdicts }; хуже всего{ $cell ->
    [none] {""}
   *[other] {" "}в { $cell }
 }: { $figure }
stop-summary-none = { $objective }: ничего не измерено


### Feeds: feed-


### Matrix of cells: matrix-


### Findings: finding-


### Causes of limits: bound-


### Circumstances of findings: circumstance-


### Index advice: advice-

advice-rows-read = прочитано строк
advice-remedy = что поможет
advice-no-index = Строить ещё какой-либо индекс смысла нет.
advice-no-plans = В этом прогоне нет планов запросов: они снимаются, когда pgdyno сам запускает PostgreSQL и измерение доведено до конца.
advice-concurrently = На рабочей базе пишите CREATE INDEX CONCURRENTLY: тогда построение никому не мешает писать.
advice-applied = Что индексы дали и чего стоили, рядом с теми же данными без них:
advice-without-planner = Оценено без планировщика: спросить его о несуществующих индексах не удалось ({ $reason }).

advice-saved-together = По оценке планировщика { $indexes ->
    [1] этот индекс сэкономил
    [one] этот { $indexes } индекс сэкономили
    [few] эти { $indexes } индекса сэкономили
   *[many] эти { $indexes } индексов сэкономили
 } бы { $share } времени всех запросов{ $speedup ->
    [none] {""}
   *[other] ; если предел ставит PostgreSQL, пропускная способность вырастет не более чем в { $speedup } раза
 }.

# Столбец и число его разных значений.
advice-column = { $column }{ $distinct ->
    [none] {""}
    [one] {" "}({ $distinct } разное значение)
    [few] {" "}({ $distinct } разных значения)
   *[many] {" "}({ $distinct } разных значений)
 }
advice-column-and = {" "}и{" "}
advice-column-then = ,{" "}
advice-descending = { $column } по убыванию
advice-by-value = по { $count ->
   *[other] значению
 }: { $columns }
advice-by-range = по границам: { $columns }
# `first`: с этого начинается перечень.
advice-by-order = { $first ->
   *[other] первые по порядку
 }: { $columns }
advice-why-index = Ищут среди { $rows ->
    [one] { $rows } строки
   *[other] { $rows } строк
 } { $purpose }.
advice-index-saves = Поможет { $statements ->
    [one] { $statements } запросу
   *[other] { $statements } запросам
 }{ $share ->
    [none] {""}
   *[other] ; сам по себе сэкономил бы { $share } времени всех запросов
 }.
advice-index-costs = { $size ->
    [none] {""}
   *[other] Займёт около { $size }.{" "}
 }{ $statements ->
    [0] Ни одному запросу этого прогона не придётся его обновлять.
    [one] Обновлять его придётся { $statements } запросу.
   *[other] Обновлять его придётся { $statements } запросам.
 }{ $not_hot ->
    [0] {""}
    [one] {" "}Из них { $not_hot } меняет его столбец и уже не сможет обойтись без записи в индексы (HOT).
   *[other] {" "}Из них { $not_hot } меняют его столбец и уже не смогут обойтись без записи в индексы (HOT).
 }

advice-not-needed = ни одной большой таблицы целиком не читает
advice-index = индекс
advice-index-number = индекс { $number }: стоимость { $before } → { $after }
advice-every-row = никакой индекс: нужна каждая строка таблицы
advice-most-rows = никакой индекс: нужно { $share } строк
advice-condition = условию { $condition } не отвечает никакое B-дерево по столбцам
advice-not-taken = нет индекса, который планировщик взял бы с заметной выгодой
advice-no-plan = плана нет: { $reason }
# `counted`: число `passed` точное.
advice-scanned = все { $rows } в { $table }, нужно { $counted ->
    [true] { $passed }
   *[false] около { $passed }
 }

advice-applying = { $indexes ->
    [one] { $indexes } индекс строится
    [few] { $indexes } индекса строятся
   *[many] { $indexes } индексов строятся
 } в копии данных; измеряется рядом с данными без них, по { $repeat ->
    [one] { $repeat } разу
    [few] { $repeat } раза
   *[many] { $repeat } раз
 }
advice-index-built = { $ddl }: построен за { $elapsed }, { $size }
advice-statement-changed = в среднем { $before } → { $after } ({ $ratio }{ $writes ->
    [true] ; пишущий
   *[false] {""}
 })
advice-heap-only = обновления без записи в индексы (HOT): { $before } → { $after } обновлённых строк


### Page: words of its script: web-


### Page: headings and sentences: page-


### Page: answers: answer-


### Live display: live-


### Directory of runs: serve-


### Search for the maximum: search-

# Разделы.
search-heading-maximum = Максимум и что его ограничивает
search-heading-scalability = Пропускная способность и число клиентов
search-heading-soak = Длительная нагрузка
search-heading-plateau = Каких настроек достаточно
search-caption-steps = Ход поиска
search-caption-perturbations = Что меняли, чтобы найти причину

# Столбцы.
search-column-stage = этап
search-column-round = поиск
search-column-delivered = выполнено/с
search-column-p99 = p99, мс
search-column-mean = среднее, мс
search-column-outcome = итог
search-column-changed = изменено
search-column-base-maximum = максимум как есть
search-column-new-maximum = с изменением
search-column-ratio = отношение
search-column-elasticity = эластичность
search-column-verdict = вывод
search-column-clients = клиенты
search-column-measured = измерено/с
search-column-law = по закону/с
search-column-metric = что
search-column-from = в начале
search-column-to = в конце
search-column-per-hour = в час (95{"\u00A0"}%)
search-column-trend = ход
search-column-cell = ячейка
search-column-cell-maximum = максимум (95{"\u00A0"}%)
search-column-cell-p99 = p99, мс (95{"\u00A0"}%)
search-column-plateau = на плато
search-plateau-yes = да
search-plateau-best = да, лучшая
search-plateau-recommended = да, рекомендуется
search-no-answer = нет ответа

# Заголовки уровней.
search-scale-rate = заявки/с
search-scale-clients = клиенты

search-step-ramp = разгон
search-step-rest = разгрузка
search-step-narrow = сужение
search-step-hold = удержание найденного
search-step-confirm = подтверждение
search-step-soak = длительная нагрузка

# `level` — целое число или дробь; дробь требует родительного падежа: 1,5 заявки.
search-level-rate = { $level ->
    [one] { $level } заявка
    [many] { $level } заявок
   *[few] { $level } заявки
 } в секунду
search-level-clients = { $clients ->
    [one] { $clients } клиент
    [few] { $clients } клиента
   *[many] { $clients } клиентов
 }
# Уровни в винительном падеже: выдерживает 21 заявку.
search-sustained-rate = { $level ->
    [one] { $level } заявку
    [many] { $level } заявок
   *[few] { $level } заявки
 } в секунду
search-sustained-clients = { $clients ->
    [one] { $clients } клиента
    [few] { $clients } клиента
   *[many] { $clients } клиентов
 }

search-outcome-held = выдержано
search-outcome-invalid = не учитывается: { $reason }

# Почему уровень не выдержан.
search-overload-objective = не соблюдается { $objective }
search-overload-behind = выполняется только { $share } предложенного
search-overload-clients = все клиенты ({ $clients }) заняты, и новые только ждали бы
search-overload-in-flight = число заявок в работе непрерывно растёт, на { $rate } в секунду
search-overload-rule = срабатывает правило останова { $rule }

# Почему поиск кончился раньше максимума: после «потому что».
search-stop-generator = генератор опаздывал или не имел запаса
search-stop-descriptors = кончились файловые дескрипторы или локальные порты
search-stop-client-cap = все клиенты ({ $clients }) были заняты, и открытый тест превратился в закрытый
search-stop-max-level = выше не пробовали (граница поиска — { $level })
search-stop-min-level = не выдержан даже наименьший уровень ({ $level })
search-stop-undecided = один и тот же уровень система то выдерживает, то нет ({ $level })

# Пределы, как подлежащие.
search-limit-cpu = процессор узла { $node }
search-limit-reads = чтение с диска на узле { $node }
search-limit-writes = запись на диск на узле { $node }
search-limit-wal = сброс журнала предзаписи на диск
search-limit-sync-replicas = ожидание синхронных реплик
search-limit-memory = память узла { $node }
search-limit-pool = пул узла { $node }
search-limit-service-pool = пул соединений сервиса { $node }
search-limit-service-threads = потоки сервиса { $node }
search-limit-slots = слоты подключений узла { $node }
search-limit-row-locks = блокировки строк{ $statement ->
    [none] {""}
   *[other] {" "}в запросе { $statement }
 }
search-limit-scan = полный просмотр таблицы { $table }{ $ddl ->
    [none] {""}
   *[other] , которой не хватает { $ddl }
 }
search-limit-checkpoints = контрольные точки
search-limit-clients = число клиентов
search-limit-client-cap = граница числа заявок в работе
search-limit-feed = лента { $feed }, которая помещается в кэш
search-limit-host = процессоры машины
search-limit-generator = генератор

# Настройки, которые поиск меняет, чтобы найти причину.
search-knob-cpu = процессоры узла { $node }
search-knob-read-iops = чтений в секунду на узле { $node }
search-knob-write-iops = записей в секунду на узле { $node }
search-knob-memory = память узла { $node }
search-knob-pool = пул узла { $node }
search-knob-environment = { $variable } сервиса { $node }
search-knob-slots = max_connections узла { $node }
search-knob-clients = клиенты
search-knob-feed-rows = строки ленты { $feed }
search-proof-limits = ограничивает
search-proof-does-not-limit = не ограничивает
search-proof-undecided = не решено

# `path`: узлы от первого до PostgreSQL.
search-question-maximum = Сколько самое большее выдерживает { $path ->
    [none] каждая ячейка
   *[other] { $path }
 } и что его ограничивает?
search-question-soak = Выдерживает ли { $path ->
    [none] каждая ячейка
   *[other] { $path }
 } нагрузку долго и что при этом меняется?
search-question-plateau = Каких настроек достаточно?

search-unfinished = поиск не окончен
search-unanswered = ответа нет, потому что { $reason }{ $suspect ->
    [none] {""}
   *[other] ; предположительная причина — { $suspect }
 }.
search-answer = выдерживает { $at_least ->
    [true] не менее чем{" "}
   *[false] {""}
 }{ $level }{ $certainty ->
    [none] {""}
   *[other] {" "}({ $certainty })
 }{ $delivered ->
    [none] {""}
    [one] , при этом { $delivered } транзакция в секунду
    [many] , при этом { $delivered } транзакций в секунду
   *[few] , при этом { $delivered } транзакции в секунду
 }; { $cause }{ $beyond ->
    [none] {""}
   *[other] ; { $beyond }
 }.
search-interval = 95{"\u00A0"}%: от { $low } до { $high }
search-searches = { $count ->
    [one] { $count } поиск
    [few] { $count } поиска
   *[many] { $count } поисков
 }
search-confirmed = подтверждено { $held } из { $total }
search-beyond-unknown = о большем ничего не известно: { $reason }
search-beyond-overload = выше { $reason }
# `consumer`: чем ресурс занят.
search-cause-proven = предел — { $limit }{ $proof ->
    [none] {""}
   *[other] {" "}({ $proof })
 }{ $consumer ->
    [none] {""}
   *[other] , который занимает { $consumer }
 }
search-cause-elasticity = эластичность { $value }
search-cause-feed = со строками всей таблицы отношение { $ratio }
search-cause-switch = без этого больше, отношение { $ratio }
search-cause-suspected = причина не доказана, предположительно { $limit }
search-cause-unknown = причина не доказана
search-answered-cells = ответ есть для { $answered } из { $cells ->
    [one] { $cells } ячейки
   *[other] { $cells } ячеек
 }
search-rounds = По отдельным поискам: { $levels }.
search-window = каждый раз { $window }{ $warmup ->
    [none] {""}
   *[other] {" "}после прогрева в { $warmup }
 }, на найденном уровне { $hold }{ $repeat ->
    [1] {""}
    [few] , поиск проводился { $repeat } раза
   *[other] , поиск проводился { $repeat } раз
 }
search-effort = { $trials ->
    [one] { $trials } измерение
    [few] { $trials } измерения
   *[many] { $trials } измерений
 }, под нагрузкой { $duration }.

search-law = По универсальному закону масштабируемости один клиент даёт λ = { $lambda } в секунду; соперничество σ = { $sigma }, согласование κ = { $kappa }. { $peak ->
    [none] Наибольшая пропускная способность лежит вне измеренных чисел клиентов, и о них ничего не утверждается
    [one] Больше всего выполняется при { $peak } клиенте
   *[other] Больше всего выполняется при { $peak } клиентах
 }. Закон объясняет { $variance } дисперсии.

# `share`: доля максимума.
search-soak-held = в течение { $duration } выдержано { $level }{ $share ->
    [none] {""}
   *[other] {" "}({ $share } максимума)
 }
search-soak-failed = в течение { $duration } не выдержано { $level }{ $share ->
    [none] {""}
   *[other] {" "}({ $share } максимума)
 }: { $reason }
search-soak-invalid = ответа нет (уровень — { $level }{ $share ->
    [none] {""}
   *[other] {" "}({ $share } максимума)
 }), потому что { $reason }
search-soak-leaks = утекает: { $metrics }
search-soak-drifts = дрейфует: { $metrics }
search-soak-steady = { $unknown ->
    [0] утечек и дрейфа нет
   *[other] утечек и дрейфа не видно, но о { $unknown } из { $trends ->
        [one] { $trends } ряда
       *[other] { $trends } рядов
     } судить нельзя
 }
search-soak-low-level = При { $share } максимума это мало что доказывает: от того, что утекает или дрейфует под нагрузкой, почти ничего не требовали.
search-trend-memory = память узла { $node }
search-trend-median = медиана времени ответа
search-trend-p99 = p99 времени ответа
search-trend-connections = соединения узла { $node }
search-trend-dead-rows = мёртвые строки { $table ->
    [none] всех таблиц
   *[other] таблицы { $table }
 }
search-trend-size = размер { $table ->
    [none] базы данных
   *[other] таблицы { $table }
 }
search-trend-throughput = пропускная способность
search-trend-files = открытые файлы узла { $node }
search-trend-leak = утечка
search-trend-drift = дрейф
search-trend-steady = неизменно
search-trend-unknown = судить нельзя

# `figure`: maximum или p99. `recommended`: ячейка на плато, которая требует меньше лучшей.
search-plateau = { $recommended ->
    [none] { $figure ->
        [maximum] Лучший максимум
       *[p99] Лучшее p99
     }
   *[other] Достаточно { $recommended }: { $figure ->
        [maximum] лучший максимум
       *[p99] лучшее p99
     }
 } — { $best }{ $others ->
    [none] {""}
   *[other] , { $others }
 }{ $recommended ->
    [none] {""}
   *[other] , а меньше всех требует { $recommended }
 }.
search-plateau-beats = и эта ячейка доказанно лучше { $others ->
    [1] другой
   *[other] всех остальных
 }
search-plateau-beats-none = но не доказано, что эта ячейка лучше { $others ->
    [1] другой
   *[other] всех остальных
 }
search-plateau-beats-some = но не доказано, что эта ячейка лучше { $equal } из { $others ->
    [one] { $others } остальной
   *[other] { $others } остальных
 }
# `processors` — целое число или дробь.
search-connections = Транзакциям, которых { $rate } в секунду и каждая из которых держит соединение { $hold_time }, в среднем нужно соединений: { $connections } (закон Литтла); у PostgreSQL { $processors ->
    [one] { $processors } процессор
    [many] { $processors } процессоров
   *[few] { $processors } процессора
 }.


### Failover: failover-


### Freshness of replicas: freshness-


### Comparison of runs: compare-
