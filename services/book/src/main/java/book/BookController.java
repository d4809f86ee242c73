package book;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.Size;
import java.util.List;
import java.util.Map;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;
import org.springframework.boot.web.embedded.tomcat.TomcatWebServer;
import org.springframework.boot.web.servlet.context.ServletWebServerApplicationContext;
import org.springframework.data.domain.Page;
import org.springframework.data.domain.PageRequest;
import org.springframework.data.domain.Sort;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** The seven operations, and the state of the service. */
@RestController
class BookController {
    record NewBook(
            @NotBlank @Size(max = 500) String author, @NotBlank @Size(max = 500) String name, @Min(0) long price) {}

    record Price(@Min(0) long price) {}

    record Listing(List<Book> books, long total) {}

    private final Books books;
    private final HikariDataSource pool;
    private final ServletWebServerApplicationContext server;

    BookController(Books books, HikariDataSource pool, ServletWebServerApplicationContext server) {
        this.books = books;
        this.pool = pool;
        this.server = server;
    }

    @GetMapping(value = "/books", params = {"author", "!name"})
    List<Book> byAuthor(@RequestParam String author) {
        return books.findByAuthor(author);
    }

    @GetMapping(value = "/books", params = {"name", "!author"})
    List<Book> byName(@RequestParam String name) {
        return books.findByName(name);
    }

    @GetMapping(value = "/books", params = {"author", "name"})
    List<Book> byBoth(@RequestParam String author, @RequestParam String name) {
        return books.findByAuthorAndName(author, name);
    }

    /** One page of all books. Spring Data also counts the whole table, because a page states the number of pages. */
    @GetMapping("/books/page")
    Listing page(
            @RequestParam(defaultValue = "0") @Min(0) @Max(1_000_000) int page,
            @RequestParam(defaultValue = "20") @Min(1) @Max(1000) int size) {
        Page<Book> found = books.findAll(PageRequest.of(page, size, Sort.by("id")));
        return new Listing(found.getContent(), found.getTotalElements());
    }

    @PutMapping("/books/price")
    Map<String, Integer> setPrice(
            @RequestParam String author, @RequestParam String name, @RequestBody @Valid Price price) {
        return Map.of("changed", books.setPrice(author, name, price.price()));
    }

    @DeleteMapping("/books")
    Map<String, Integer> delete(@RequestParam String author, @RequestParam String name) {
        return Map.of("deleted", books.delete(author, name));
    }

    @PostMapping("/books")
    @ResponseStatus(HttpStatus.CREATED)
    Map<String, Long> add(@RequestBody @Valid NewBook it) {
        return Map.of("id", books.save(new Book(it.author(), it.name(), it.price())).getId());
    }

    @GetMapping("/health")
    Map<String, String> health() {
        return Map.of("status", "up");
    }

    @GetMapping("/stats")
    Map<String, Map<String, Integer>> stats() {
        HikariPoolMXBean now = pool.getHikariPoolMXBean();
        Map<String, Integer> connections = now == null
                ? Map.of("size", pool.getMaximumPoolSize(), "busy", 0, "idle", 0, "waiting", 0)
                : Map.of(
                        "size", pool.getMaximumPoolSize(),
                        "busy", now.getActiveConnections(),
                        "idle", now.getIdleConnections(),
                        "waiting", now.getThreadsAwaitingConnection());
        var handler = ((TomcatWebServer) server.getWebServer()).getTomcat().getConnector().getProtocolHandler();
        Map<String, Integer> working = handler.getExecutor() instanceof ThreadPoolExecutor it
                ? Map.of("size", it.getMaximumPoolSize(), "busy", it.getActiveCount(), "waiting", it.getQueue().size())
                : Map.of();
        return Map.of("threads", working, "pool", connections);
    }
}
