package book;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.SequenceGenerator;
import jakarta.persistence.Table;

/** A book; its price is in kopecks. */
@Entity
@Table(schema = "book", name = "bookv2")
class Book {
    @Id
    @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "numbers")
    @SequenceGenerator(name = "numbers", schema = "book", sequenceName = "bookv2_seq", allocationSize = 50)
    private Long id;

    private String author;
    private String name;
    private long price;

    /** Constructor for JPA. */
    protected Book() {}

    Book(String author, String name, long price) {
        this.author = author;
        this.name = name;
        this.price = price;
    }

    public Long getId() {
        return id;
    }

    public String getAuthor() {
        return author;
    }

    public String getName() {
        return name;
    }

    public long getPrice() {
        return price;
    }
}
