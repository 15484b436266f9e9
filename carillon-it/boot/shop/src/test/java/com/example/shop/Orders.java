package com.example.shop;

import com.example.shop.CarillonConfiguration.Invoice;
import com.example.shop.CarillonConfiguration.Reminder;
import io.carillon.run.Enqueue;
import java.util.UUID;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
class Orders {
    private final JdbcTemplate jdbc;
    private final SpringTransaction transaction;

    Orders(JdbcTemplate jdbc, SpringTransaction transaction) {
        this.jdbc = jdbc;
        this.transaction = transaction;
    }

    @Transactional
    public void place(UUID order, String email) {
        jdbc.update("INSERT INTO orders (id) VALUES (?)", order);
        transaction.call(carillon -> carillon.enqueue(
                CarillonConfiguration.REMIND,
                new Reminder(order, email),
                Enqueue.now().uniqueKey("remind:" + order)));
        transaction.call(carillon -> carillon.enqueue(CarillonConfiguration.INVOICE, new Invoice(order)));
        if (email.isEmpty()) throw new IllegalArgumentException("an order needs an email address");
    }
}
