package book;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * Settings, read from the environment.
 *
 * @param threads number of threads that answer requests; further requests wait
 * @param pool number of connections to the database; further threads wait
 * @param timeout timeout of the wait for a connection and of a statement; zero for none
 * @param prepare true if frequent statements are prepared on the server
 */
record Settings(String host, int port, URI database, int threads, int pool, Duration timeout, boolean prepare) {

    /** All errors in one text, without the address, which may contain a password. */
    static final class Wrong extends RuntimeException {
        Wrong(String message) {
            super(message);
        }
    }

    static Settings of(UnaryOperator<String> environment) {
        List<String> wrong = new ArrayList<>();
        String address = or(environment.apply("ADDRESS"), "127.0.0.1:8080");
        int colon = address.lastIndexOf(':');
        String host = colon < 0 ? "" : address.substring(0, colon).replaceAll("^\\[|]$", "");
        int port = colon < 0 ? -1 : whole(address.substring(colon + 1), 0, 65_535);
        if (port < 0) {
            wrong.add("ADDRESS=" + address + ": write host:port");
        }
        URI database = null;
        try {
            database = URI.create(or(environment.apply("DATABASE_URL"), "postgres://127.0.0.1/"));
            if (database.getHost() == null || !List.of("postgres", "postgresql").contains(database.getScheme())) {
                throw new IllegalArgumentException();
            }
        } catch (IllegalArgumentException unreadable) {
            wrong.add("DATABASE_URL: write an address such as postgres://user@host:5432/database");
        }
        Map<String, Integer> numbers = new HashMap<>(Map.of("THREADS", 5, "POOL_SIZE", 3));
        numbers.replaceAll((name, otherwise) -> {
            String text = or(environment.apply(name), otherwise.toString());
            int number = whole(text, 1, 10_000);
            if (number < 0) {
                wrong.add(name + "=" + text + ": write a whole number from 1 to 10000");
            }
            return number;
        });
        String timeout = or(environment.apply("QUERY_TIMEOUT"), "30s");
        int factor = timeout.endsWith("ms") ? 1 : 1000;
        int lasting = whole(timeout.replaceAll("m?s$", ""), 0, 3_600_000 / factor);
        if (lasting < 0 || !timeout.endsWith("s")) {
            wrong.add("QUERY_TIMEOUT=" + timeout + ": write a duration such as 300ms, or 0s for none");
        }
        String prepare = or(environment.apply("PREPARE"), "true");
        if (!List.of("true", "false").contains(prepare)) {
            wrong.add("PREPARE=" + prepare + ": write true or false");
        }
        if (!wrong.isEmpty()) {
            wrong.sort(null);
            throw new Wrong(String.join("; ", wrong));
        }
        Duration of = Duration.ofMillis((long) lasting * factor);
        return new Settings(
                host, port, database, numbers.get("THREADS"), numbers.get("POOL_SIZE"), of, prepare.equals("true"));
    }

    /** The settings in Spring's form. */
    Map<String, Object> properties() {
        Map<String, Object> all = new HashMap<>();
        all.put("server.address", host);
        all.put("server.port", port);
        all.put("server.tomcat.threads.max", threads);
        all.put("server.tomcat.threads.min-spare", threads);
        String options = database.getQuery() == null ? "?" : "?" + database.getQuery() + "&";
        int databasePort = database.getPort() < 0 ? 5432 : database.getPort();
        String of = database.getHost() + ":" + databasePort + database.getPath();
        String prepared = prepare ? "" : "prepareThreshold=0&";
        all.put("spring.datasource.url", "jdbc:postgresql://" + of + options + prepared + "ApplicationName=book");
        String[] who = or(database.getUserInfo(), "postgres").split(":", 2);
        all.put("spring.datasource.username", who[0]);
        if (who.length > 1) {
            all.put("spring.datasource.password", who[1]);
        } else if (System.getenv("PGPASSWORD") != null) {
            all.put("spring.datasource.password", System.getenv("PGPASSWORD"));
        }
        all.put("spring.datasource.hikari.maximum-pool-size", pool);
        // HikariCP waits without a limit if the timeout is 0; otherwise its minimum is 250 ms.
        all.put("spring.datasource.hikari.connection-timeout", timeout.isZero() ? 0 : Math.max(timeout.toMillis(), 250));
        // The service may start before its database.
        all.put("spring.datasource.hikari.initialization-fail-timeout", -1);
        if (!timeout.isZero()) {
            all.put("spring.jpa.properties.jakarta.persistence.query.timeout", timeout.toMillis());
        }
        return all;
    }

    private static String or(String text, String otherwise) {
        return text == null || text.isEmpty() ? otherwise : text;
    }

    /** The number, or -1 if the text is not one. */
    private static int whole(String text, int least, int most) {
        boolean digits = text.matches("[0-9]{1,9}");
        int number = digits ? Integer.parseInt(text) : -1;
        return number < least || number > most ? -1 : number;
    }
}
