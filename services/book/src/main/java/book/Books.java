package book;

import java.util.List;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.transaction.annotation.Transactional;

/** The table of books. Searches by author or name have no index until a user creates one. */
interface Books extends JpaRepository<Book, Long> {
    List<Book> findByAuthor(String author);

    List<Book> findByName(String name);

    List<Book> findByAuthorAndName(String author, String name);

    @Transactional
    @Modifying
    @Query("update Book b set b.price = :price where b.author = :author and b.name = :name")
    int setPrice(String author, String name, long price);

    @Transactional
    @Modifying
    @Query("delete from Book b where b.author = :author and b.name = :name")
    int delete(String author, String name);
}
