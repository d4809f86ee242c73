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


### Page: words of its script: web-


### Page: headings and sentences: page-


### Page: answers: answer-


### Live display: live-


### Directory of runs: serve-


### Search for the maximum: search-


### Failover: failover-


### Freshness of replicas: freshness-


### Comparison of runs: compare-
