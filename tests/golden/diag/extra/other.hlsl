static const float kOther = 1;
