package com.example.shop;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.stereotype.Component;

/** Remembers what it sent. */
@Component
class Mail {
    private final List<String> sent = new CopyOnWriteArrayList<>();

    void send(String to) {
        sent.add(to);
    }

    List<String> sent() {
        return sent;
    }
}
