package book;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Service of books and their prices, which behaves like real services under test. README.md describes its settings. */
@SpringBootApplication
public class Application {
    public static void main(String[] args) {
        try {
            application(Settings.of(System::getenv)).run(args);
        } catch (Settings.Wrong wrong) {
            System.err.println("book: error: " + wrong.getMessage());
            System.exit(1);
        }
    }

    static SpringApplication application(Settings settings) {
        SpringApplication it = new SpringApplication(Application.class);
        it.setDefaultProperties(settings.properties());
        return it;
    }
}
